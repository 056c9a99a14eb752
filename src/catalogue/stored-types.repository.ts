import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import type { ObjectSchema } from 'webhook-notification/catalogue';

/** An event type as it is stored. */
export interface StoredType {
  name: string;
  description: string;
  schema: ObjectSchema;
  example: object;
  /** Null: it came over the API without one. */
  application: string | null;
  /** Another one after every change. */
  version: string;
}

/** No change takes the count and the newest version back to what they were. */
const STATE = `select count(*) || ' ' || coalesce(max(version), 0) as state from webhook_service.event_types`;
const COLUMNS = 'name, description, schema, example, application, version';
const ALL = `select ${COLUMNS} from webhook_service.event_types order by name`;
const ONE = `select ${COLUMNS} from webhook_service.event_types where name = $1`;
const COUNT = 'select count(*)::integer as count from webhook_service.event_types';
const SAVE = `
  insert into webhook_service.event_types (name, description, schema, example, application)
  values ($1, $2, $3::json, $4::json, $5)
  on conflict (name) do update
  set description = excluded.description, schema = excluded.schema, example = excluded.example, version = default`;
const REMOVE = 'delete from webhook_service.event_types where name = $1';

/** The event types that applications and users have declared. */
@Injectable()
export class StoredTypesRepository {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** A text that is another one after every change. */
  async state(): Promise<string> {
    const [row] = await this.dataSource.query<{ state: string }[]>(STATE);
    return row?.state ?? '';
  }

  /** All of them, by name. */
  async all(): Promise<StoredType[]> {
    return this.dataSource.query(ALL);
  }

  /** Holds off all other changes until the transaction ends. */
  async lock(manager: EntityManager): Promise<void> {
    await manager.query(`select pg_advisory_xact_lock(hashtextextended('event types', 0))`);
  }

  async find(manager: EntityManager, name: string): Promise<StoredType | undefined> {
    const [row] = await manager.query<StoredType[]>(ONE, [name]);
    return row;
  }

  async count(manager: EntityManager): Promise<number> {
    const [row] = await manager.query<{ count: number }[]>(COUNT);
    return row?.count ?? 0;
  }

  /** Inserts it, or changes all of it but its application. */
  async save(manager: EntityManager, type: Omit<StoredType, 'version'>): Promise<void> {
    const { name, description, schema, example, application } = type;
    await manager.query(SAVE, [name, description, JSON.stringify(schema), JSON.stringify(example), application]);
  }

  async remove(manager: EntityManager, name: string): Promise<void> {
    await manager.query(REMOVE, [name]);
  }
}
