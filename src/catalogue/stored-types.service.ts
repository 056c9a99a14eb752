import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { EventCatalogue, type KnownEventType } from 'webhook-notification/catalogue';
import { database } from 'webhook-notification/nest';
import { SharedStateService } from '../infrastructure/database/shared-state.service';
import { ApiError, messageFor } from '../infrastructure/errors/api-error';
import { TYPES_STATE, type StoredType, StoredTypesRepository } from './stored-types.repository';

type VersionedType = KnownEventType & { version: string };

/** Loads stored event types into the catalogue of this process: once a second, and when a request names an unknown type. */
@Injectable()
export class StoredTypesService implements OnApplicationBootstrap {
  private readonly logger = new Logger(StoredTypesService.name);
  private known: ReadonlyMap<string, VersionedType> = new Map();
  private warnedOf = '';

  constructor(
    private readonly catalogue: EventCatalogue,
    private readonly rows: StoredTypesRepository,
    private readonly dataSource: DataSource,
    private readonly shared: SharedStateService,
  ) {
    shared.watch(TYPES_STATE, () => this.read());
  }

  /** @throws Error when a type of this application's modules has a name that is already taken */
  async onApplicationBootstrap(): Promise<void> {
    await this.declareOwn();
    await this.refresh();
  }

  /** Event types declared by applications and users, the most recently changed last. */
  get declared(): readonly KnownEventType[] {
    const versionOf = ({ name }: KnownEventType) => Number(this.known.get(name)?.version ?? 0);
    return this.catalogue.subscribable
      .filter(({ source }) => source === 'api' || source === 'module')
      .sort((one, other) => versionOf(one) - versionOf(other));
  }

  /** Resolves when the catalogue contains everything that was committed before the call. */
  async refresh(): Promise<void> {
    await this.shared.refresh();
  }

  /** Refreshes the catalogue before an unknown name is rejected. Queries nothing if all of these names are known. */
  async lookUp(names: readonly string[]): Promise<void> {
    if (names.some((name) => !this.catalogue.find(name))) await this.refresh();
  }

  async find(name: string): Promise<KnownEventType> {
    await this.lookUp([name]);
    const type = this.catalogue.find(name);
    const names = this.catalogue.all.map((known) => known.name);
    if (type) return type;
    const message = messageFor.unknownEvent(name, names);
    throw ApiError.invalid({ field: 'event', code: 'unknown_event_type', message });
  }

  private async declareOwn(): Promise<void> {
    const transport = database({ connection: this.dataSource });
    const { application, registered } = this.catalogue;
    if (application !== null) await transport.start(application, registered);
  }

  /** Reads only changed types: 500 types may have 16 MB. */
  private async read(): Promise<void> {
    const versions = await this.rows.versions();
    const changed = versions.filter(({ name, version }) => this.known.get(name)?.version !== version);
    const rows = await this.rows.some(changed.map(({ name }) => name));
    const read = new Map(rows.map((row) => [row.name, typeOf(row)]));
    // A changed type that was not read has been deleted in the meantime. Unchanged types stay the same objects, and so
    // stay compiled.
    const isChanged = new Set(changed);
    const types = versions.flatMap((each) => (isChanged.has(each) ? read : this.known).get(each.name) ?? []);
    this.known = new Map(types.map((type) => [type.name, type]));
    this.catalogue.replaceStored(types);
    this.warnOfNames();
  }

  private warnOfNames(): void {
    const names = this.catalogue.namedTwice.join(', ');
    if (names !== '' && names !== this.warnedOf)
      this.logger.warn(`EXTRA_EVENT_TYPES names ${names}: already declared, so these entries are ignored.`);
    this.warnedOf = names;
  }
}

const typeOf = (row: StoredType): VersionedType => ({ ...row, source: row.application === null ? 'api' : 'module' });
