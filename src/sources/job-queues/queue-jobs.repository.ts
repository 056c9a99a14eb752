import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { StatementsService, statement } from '../../infrastructure/database/statements.service';
import type { RememberedJob } from './job-memory';

const RECALL = statement('recall_queue_jobs')`
    select job_id as "jobId", name, json_build_object('is', user_is, 'id', user_id) as "user", attempts,
      started_at as "startedAt"
    from webhook_service.queue_jobs where queue = $1 and job_id = any($2::text[])`;

const REMEMBER = `
  insert into webhook_service.queue_jobs (queue, job_id, name, user_is, user_id, attempts, started_at)
  select $1, * from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::timestamptz[])
  on conflict (queue, job_id) do update set name = excluded.name, user_is = excluded.user_is,
    user_id = excluded.user_id, attempts = excluded.attempts, started_at = excluded.started_at, noted_at = now()`;

const FORGET = 'delete from webhook_service.queue_jobs where queue = $1 and job_id = any($2::text[])';

/** Stores facts about jobs that have not ended. RetentionService deletes jobs without an entry for 30 days. */
@Injectable()
export class QueueJobsRepository {
  constructor(private readonly statements: StatementsService) {}

  async recall(queue: string, jobIds: readonly string[]): Promise<Map<string, RememberedJob>> {
    const rows = await this.statements.run<RememberedJob>(RECALL, [queue, jobIds.filter(isStorable)]);
    return new Map(rows.map((row) => [row.jobId, row]));
  }

  /** Stores jobs in the caller's transaction. Skips those that PostgreSQL cannot store. */
  async remember(queue: string, jobs: readonly RememberedJob[], manager: EntityManager): Promise<void> {
    const storable = jobs.filter(({ jobId, name }) => isStorable(jobId) && isStorable(name ?? ''));
    if (storable.length === 0) return;
    await manager.query(REMEMBER, [
      queue,
      storable.map(({ jobId }) => jobId),
      storable.map(({ name }) => name),
      storable.map(({ user }) => user.is),
      storable.map(({ user }) => user.id),
      storable.map(({ attempts }) => attempts),
      storable.map(({ startedAt }) => startedAt),
    ]);
  }

  async forget(queue: string, jobIds: readonly string[], manager: EntityManager): Promise<void> {
    if (jobIds.length > 0) await manager.query(FORGET, [queue, jobIds.filter(isStorable)]);
  }
}

/** Text in PostgreSQL cannot contain NUL; text in Redis can. */
const isStorable = (text: string): boolean => !text.includes('\0');
