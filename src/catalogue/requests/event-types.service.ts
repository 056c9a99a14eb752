import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { EventCatalogue, isBuiltIn, type KnownEventType, nameProblem, twinOf } from 'webhook-notification/catalogue';
import type { Principal } from '../../auth/access-token';
import { whileBusy } from '../../infrastructure/concurrency/pauses.timer';
import { ApiError, invalid, messageFor, MESSAGES } from '../../infrastructure/errors/api-error';
import { type StoredType, StoredTypesRepository, type TypeOwner } from '../stored-types.repository';
import { StoredTypesService } from '../stored-types.service';
import type { Declaration } from './dto/event-type.dto';

const MAX_TYPES = 500;
/** A change waits this long for those of others. */
const LOCKED_FOR_MS = 1000;

export type Declarer = Pick<Principal, 'userId' | 'scopes'>;

@Injectable()
export class EventTypesService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly catalogue: EventCatalogue,
    private readonly rows: StoredTypesRepository,
    private readonly stored: StoredTypesService,
  ) {}

  async create(type: Declaration): Promise<KnownEventType> {
    this.validate(type, 'name');
    await this.change(async (manager) => {
      const before = await this.rows.find(manager, type.name);
      if (before) throw new ApiError('event_type_exists', messageFor.eventTypeExists(type.name));
      this.refuseOwn(type);
      await this.insert(manager, { ...type, declaredBy: null }, 'name');
    });
    return saved(type);
  }

  /** Declares a type, or changes the one with that name. `force` replaces the schema with a different one. */
  async save(by: Declarer, type: Declaration, force: boolean): Promise<{ type: KnownEventType; isNew: boolean }> {
    this.validate(type, 'path.name');
    const isNew = await this.change(async (manager) => {
      const before = await this.rows.find(manager, type.name);
      if (!before) {
        this.refuseOwn(type);
        const declaredBy = await this.ownerOf(manager, by, type.application);
        await this.insert(manager, { ...type, declaredBy }, 'path.name');
        return true;
      }
      this.refuseModules(type.name);
      refuseForeign(before, type.application);
      refuseOthers(by, before);
      if (!force && !isDeepStrictEqual(before.schema, type.schema))
        throw new ApiError('event_type_differs', messageFor.eventTypeDiffers(type.name));
      await this.rows.save(manager, { ...type, declaredBy: before.declaredBy });
      return false;
    });
    return { type: saved(type), isNew };
  }

  async remove(by: Declarer, name: string, application: string | null): Promise<void> {
    await this.change(async (manager) => {
      const before = await this.rows.find(manager, name);
      if (before) {
        this.refuseModules(name);
        refuseForeign(before, application);
        refuseOthers(by, before);
        return this.rows.remove(manager, name);
      }
      const own = this.catalogue.findOwn(name);
      throw own ? taken(own) : new ApiError('not_found', MESSAGES.eventTypeNotFound);
    });
  }

  /**
   * Runs one change at a time, for all users; other changes wait without a connection. Afterwards this process knows the change,
   * and all others within a second.
   */
  private async change<T>(action: (manager: EntityManager) => Promise<T>): Promise<T> {
    const result = await whileBusy(
      () =>
        this.dataSource.transaction(async (manager) =>
          (await this.rows.tryLock(manager)) ? action(manager) : ('busy' as const),
        ),
      LOCKED_FOR_MS,
    );
    await this.stored.refresh();
    return result;
  }

  private validate(type: Declaration, nameField: string): void {
    this.validateName(type.name, nameField, true);
    const wrong = this.catalogue.typeProblem(type);
    if (wrong) throw invalid(wrong.field, wrong.problem);
  }

  /** @param mayExist true until it is known that no type has the name */
  private validateName(name: string, nameField: string, mayExist: boolean): void {
    const problem = isBuiltIn(name) ? null : nameProblem(name, mayExist);
    if (problem) throw invalid(nameField, messageFor.badEventName(name, problem));
  }

  /** Rejects the service's own names, except that an application may declare a name of EXTRA_EVENT_TYPES. */
  private refuseOwn({ name, application }: Declaration): void {
    const own = this.catalogue.findOwn(name);
    if (own && !(own.source === 'setting' && application !== null)) throw taken(own);
  }

  /** Rejects types of the service's own modules, which change only with the service. */
  private refuseModules(name: string): void {
    const own = this.catalogue.findOwn(name);
    if (own?.source === 'module') throw taken(own);
  }

  private async ownerOf(manager: EntityManager, by: Declarer, application: string | null): Promise<string | null> {
    if (application === null) return null;
    const declaredBy = (await this.rows.ownerOf(manager, application)) ?? by.userId;
    refuseOthers(by, { name: '', application, declaredBy });
    return declaredBy;
  }

  private async insert(manager: EntityManager, type: Declaration & TypeOwner, nameField: string): Promise<void> {
    this.validateName(type.name, nameField, false);
    const twin = twinOf(type.name, this.catalogue.subscribableNames) ?? (await this.rows.twin(manager, type.name));
    if (twin !== undefined) throw new ApiError('event_type_exists', messageFor.eventTypeTwin(type.name, twin));
    if ((await this.rows.count(manager)) >= MAX_TYPES)
      throw new ApiError('event_type_limit_reached', MESSAGES.tooManyEventTypes);
    await this.rows.save(manager, type);
  }
}

const saved = (type: Declaration): KnownEventType => ({
  ...type,
  source: type.application === null ? 'api' : 'module',
});

function refuseForeign(before: StoredType, application: string | null): void {
  if (before.application !== application) throw taken(saved(before));
}

/**
 * Rejects changes by other users. Holders of `users:manage` may change any type, because they could create a token of
 * the owner anyway. Types without an application may be changed by any user.
 */
function refuseOthers(by: Declarer, type: Pick<StoredType, 'name' | 'application'> & TypeOwner): void {
  const { name, application, declaredBy } = type;
  if (application === null || declaredBy === by.userId || by.scopes.includes('users:manage')) return;
  throw new ApiError(
    'event_type_owned',
    declaredBy === null ? messageFor.eventTypeWithoutOwner(name) : messageFor.eventTypeOwned(application),
  );
}

function taken({ name, source, application }: KnownEventType): ApiError {
  const owners = {
    builtin: 'it is built in',
    setting: 'EXTRA_EVENT_TYPES names it',
    module: `the application ${application} has it`,
    api: 'it was declared over the API, without an application',
  };
  return new ApiError('event_type_taken', messageFor.eventTypeTaken(name, owners[source]));
}
