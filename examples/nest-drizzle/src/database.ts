import { fileURLToPath } from 'node:url';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';

const migrationsFolder = fileURLToPath(new URL('../drizzle', import.meta.url));

/** The application's own PostgreSQL. */
@Injectable()
export class Database implements OnModuleInit, OnApplicationShutdown {
  private readonly pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
  readonly orm = drizzle(this.pool);

  async onModuleInit(): Promise<void> {
    await migrate(this.orm, { migrationsFolder });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}
