import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { ObjectSchema } from 'webhook-notification/catalogue';

export interface StoredType {
  name: string;
  description: string;
  schema: ObjectSchema;
  example: object;
  /** Null if it was declared over the API without an application. */
  application: string | null;
  version: string;
}

export interface TypeOwner {
  /** The user who owns the application; null: only holders of `users:manage` may change the type. */
  declaredBy: string | null;
}

/** Differs after every change: no change restores an earlier pair of count and newest version. */
export const TYPES_STATE = `select count(*) || ' ' || coalesce(max(version), 0) from webhook_service.event_types`;
const COLUMNS = 'name, description, schema, example, application, version';
const TRY_LOCK = `select pg_try_advisory_xact_lock(hashtextextended('event types', 0)) as locked`;
const VERSIONS = 'select name, version from webhook_service.event_types order by name';
const SOME = `select ${COLUMNS} from webhook_service.event_types where name = any($1)`;
const ONE = `
  select ${COLUMNS}, declared_by as "declaredBy" from webhook_service.event_types where name = $1`;
const TWIN = 'select name from webhook_service.event_types where lower(name) = lower($1) and name <> $1';
const OWNER = `
  select declared_by as "declaredBy" from webhook_service.event_types
  where application = $1 and declared_by is not null limit 1`;
const COUNT = 'select count(*)::integer as count from webhook_service.event_types';
const SAVE = `
  insert into webhook_service.event_types as stored (name, description, schema, example, application, declared_by)
  values ($1, $2, $3::json, $4::json, $5, $6)
  on conflict (name) do update
  set description = excluded.description, schema = excluded.schema, example = excluded.example, version = default
  where (stored.description, stored.schema::text, stored.example::text)
    is distinct from (excluded.description, excluded.schema::text, excluded.example::text)`;
const REMOVE = 'delete from webhook_service.event_types where name = $1';

@Injectable()
export class StoredTypesRepository {
  constructor(private readonly dataSource: DataSource) {}

  async versions(): Promise<Pick<StoredType, 'name' | 'version'>[]> {
    return this.dataSource.query(VERSIONS);
  }

  async some(names: readonly string[]): Promise<StoredType[]> {
    return names.length === 0 ? [] : this.dataSource.query(SOME, [names]);
  }

  /** Blocks all other changes until the transaction ends. Returns false when another transaction does. */
  async tryLock(manager: EntityManager): Promise<boolean> {
    const [row] = await manager.query<{ locked: boolean }[]>(TRY_LOCK);
    return row?.locked === true;
  }

  async find(manager: EntityManager, name: string): Promise<(StoredType & TypeOwner) | undefined> {
    const [row] = await manager.query<(StoredType & TypeOwner)[]>(ONE, [name]);
    return row;
  }

  /** Returns the name of the stored type that differs from this one only in case. */
  async twin(manager: EntityManager, name: string): Promise<string | undefined> {
    const [row] = await manager.query<{ name: string }[]>(TWIN, [name]);
    return row?.name;
  }

  async ownerOf(manager: EntityManager, application: string): Promise<string | undefined> {
    const [row] = await manager.query<{ declaredBy: string }[]>(OWNER, [application]);
    return row?.declaredBy;
  }

  async count(manager: EntityManager): Promise<number> {
    const [row] = await manager.query<{ count: number }[]>(COUNT);
    return row?.count ?? 0;
  }

  /** Inserts a type, or updates all of it except its application and owner, if it differs. */
  async save(manager: EntityManager, type: Omit<StoredType, 'version'> & TypeOwner): Promise<void> {
    const { name, description, application, declaredBy } = type;
    const [schema, example] = [JSON.stringify(type.schema), JSON.stringify(type.example)];
    await manager.query(SAVE, [name, description, schema, example, application, declaredBy]);
  }

  async remove(manager: EntityManager, name: string): Promise<void> {
    await manager.query(REMOVE, [name]);
  }
}
