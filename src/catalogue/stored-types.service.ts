import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { EventCatalogue, type KnownEventType } from 'webhook-notification/catalogue';
import { database } from 'webhook-notification/nest';
import { Batcher } from '../plumbing/database/batcher';
import { ApiError } from '../plumbing/errors/api-error';
import { messageFor } from '../plumbing/errors/messages';
import { Repeat } from '../plumbing/timers/repeat.timer';
import { type StoredType, StoredTypesRepository } from './stored-types.repository';

const LOOK_EVERY_MS = 1000;
/** As many as ask at the same time. */
const MAX_ASKING = 10_000;

type VersionedType = KnownEventType & { version: string };

/** Brings what is stored into the catalogue of this process: once a second, and when somebody names what it does not know. */
@Injectable()
export class StoredTypesService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('EventTypes');
  private state = '';
  private known: ReadonlyMap<string, VersionedType> = new Map();
  private warnedOf = '';
  /** A question that comes while a look is under way waits for the next look, which sees what was committed before it. */
  private readonly looks = new Batcher<null, void>(async (asking) => {
    await this.look();
    return asking.map(() => undefined);
  }, MAX_ASKING);
  private readonly looking = new Repeat(() => this.refresh(), {
    everyMs: LOOK_EVERY_MS,
    onFailure: (error, isRepeated) => {
      if (!isRepeated) this.logger.warn(`Looking for event types fails, and is tried again: ${String(error)}`);
    },
  });

  constructor(
    private readonly catalogue: EventCatalogue,
    private readonly rows: StoredTypesRepository,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {}

  /** @throws Error when somebody else has the name of a type of this application's modules */
  async onApplicationBootstrap(): Promise<void> {
    await this.declareOwn();
    this.looking.start();
  }

  /** The event types of applications and users, the most recently changed last. */
  get declared(): readonly KnownEventType[] {
    const versionOf = ({ name }: KnownEventType) => Number(this.known.get(name)?.version ?? 0);
    return this.catalogue.subscribable
      .filter(({ source }) => source === 'api' || source === 'module')
      .sort((one, other) => versionOf(one) - versionOf(other));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.looking.stop();
  }

  /** Resolves when the catalogue has all that was committed before the call. */
  async refresh(): Promise<void> {
    await this.looks.add(null);
  }

  /** Looks for what this process does not know yet, before it is refused. Asks nothing when it knows all of these names. */
  async lookUp(names: readonly string[]): Promise<void> {
    if (names.some((name) => !this.catalogue.find(name))) await this.refresh();
  }

  /**
   * The event type with this name.
   * @throws ApiError 400 when there is none
   */
  async find(name: string): Promise<KnownEventType> {
    await this.lookUp([name]);
    const type = this.catalogue.find(name);
    const names = this.catalogue.all.map((known) => known.name);
    if (!type) throw new ApiError(400, messageFor.unknownEvent(name, names));
    return type;
  }

  /** What the modules of this process have registered is there for the others too. */
  private async declareOwn(): Promise<void> {
    const transport = database({ connection: this.dataSource });
    const { application, registered } = this.catalogue;
    if (application !== null) await transport.start(application, registered);
  }

  /** Reads only the types that have changed: 500 types may have 16 MB. */
  private async look(): Promise<void> {
    const state = await this.rows.state();
    if (state === this.state) return;
    const versions = await this.rows.versions();
    const changed = versions.filter(({ name, version }) => this.known.get(name)?.version !== version);
    const rows = await this.rows.some(changed.map(({ name }) => name));
    const read = new Map(rows.map((row) => [row.name, typeOf(row)]));
    // A changed type that was not read has been deleted meanwhile; a type that stays the same object stays compiled.
    const isChanged = new Set(changed);
    const types = versions.flatMap((each) => (isChanged.has(each) ? read : this.known).get(each.name) ?? []);
    this.known = new Map(types.map((type) => [type.name, type]));
    this.catalogue.replaceStored(types);
    this.state = state;
    this.warnOfNames();
  }

  private warnOfNames(): void {
    const names = this.catalogue.namedTwice.join(', ');
    if (names !== '' && names !== this.warnedOf) {
      this.logger.warn(
        `EXTRA_EVENT_TYPES names ${names}: such an event type is there already, so that changes nothing.`,
      );
    }
    this.warnedOf = names;
  }
}

const typeOf = (row: StoredType): VersionedType => ({ ...row, source: row.application === null ? 'api' : 'module' });
