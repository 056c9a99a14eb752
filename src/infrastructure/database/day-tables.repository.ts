import { Injectable } from '@nestjs/common';
import { DataSource, type QueryRunner } from 'typeorm';
import { SCHEMA } from './data-source.setup';
import { StatementsService } from './statements.service';
import { dayOfPartition, type DayPartition, type PartitionedTable } from './partitions';

interface Row {
  name: string;
  /** `leaving`: the detach was interrupted. `detached`: no longer part of the table, but not dropped yet. */
  state: 'attached' | 'leaving' | 'detached';
}

const LIST = `
  select c.relname as name,
         case when i.inhrelid is null then 'detached' when i.inhdetachpending then 'leaving' else 'attached' end as state
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  left join pg_inherits i on i.inhrelid = c.oid
  where n.nspname = $1 and c.relkind = 'r' and c.relname like $2
  order by c.relname`;

@Injectable()
export class DayTablesRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: StatementsService,
  ) {}

  /** Returns the days that end before this id, oldest first, including days whose drop was interrupted. */
  async before(table: PartitionedTable, id: string): Promise<DayPartition[]> {
    return (await this.rows(table)).map(({ name }) => dayOfPartition(table, name)).filter(({ to }) => to <= id);
  }

  /** Drops a day without blocking readers or writers. After an interruption, the next call completes it. */
  async drop(table: PartitionedTable, { name }: DayPartition): Promise<void> {
    const [parent, child] = [`${SCHEMA}.${table}`, `${SCHEMA}.${name}`];
    const row = (await this.rows(table)).find((known) => known.name === name);
    if (!row) return;
    if (row.state === 'attached')
      await this.statements.runAlone(`alter table ${parent} detach partition ${child} concurrently`);
    if (row.state === 'leaving')
      await this.statements.runAlone(`alter table ${parent} detach partition ${child} finalize`);
    await this.statements.runAlone(`drop table ${child}`);
  }

  /** Runs `action`, or does nothing while another process runs its own. Rejects with the error of `action`. */
  async alone(action: () => Promise<void>): Promise<void> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const [row] = await locked(runner, 'pg_try_advisory_lock');
      if (!row?.ok) return;
      try {
        await action();
      } finally {
        await locked(runner, 'pg_advisory_unlock');
      }
    } finally {
      await runner.release();
    }
  }

  private rows(table: PartitionedTable): Promise<Row[]> {
    return this.dataSource.query<Row[]>(LIST, [SCHEMA, `${table}\\_p________`]);
  }
}

function locked(runner: QueryRunner, call: 'pg_try_advisory_lock' | 'pg_advisory_unlock'): Promise<{ ok: boolean }[]> {
  return runner.query(`select ${call}(hashtext($1)) as ok`, [`${SCHEMA}.retention`]) as Promise<{ ok: boolean }[]>;
}
