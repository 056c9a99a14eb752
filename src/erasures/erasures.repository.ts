import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, Repository } from 'typeorm';
import { JOB_LEASE } from '../deliveries/rows/lease';
import { Config } from '../infrastructure/config/config';
import type { PageRequest, Page } from '../infrastructure/pagination/page';
import { newestFirst } from '../infrastructure/pagination/newest-first.query';
import { Erasure, type ErasureKind } from './erasure.entity';

/** Two requests for one user wait for each other, whichever key their processes have first. */
const LOCK = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';

/** Ends the access of the user at once. The rows are deleted in the first page. */
const END_ACCESS = ['access_tokens', 'console_links'].map(
  (table) => `update webhook_service.${table} set expires_at = least(expires_at, now()) where user_id = $1`,
);

/**
 * Also makes the statements of this transaction use indexes: in an unbalanced table reading everything looks cheap. They hardly
 * wait for locks, because other erasures wait meanwhile.
 */
const HOLD = `
  select set_config('enable_seqscan', 'off', true), set_config('lock_timeout', '100ms', true) from webhook_service.erasures
  where id = $1 and status = 'running' for update skip locked`;

const COUNT = `
  update webhook_service.erasures
  set counts = counts || jsonb_build_object($2::text, coalesce((counts->>$2::text)::bigint, 0) + $3::bigint)
  where id = $1`;

/**
 * After this time no process writes for the user any more: within a second each knows of the erasure, and an attempt that it
 * had begun has been written after its deadline and its lease.
 */
const AWAIT_LAST_PASS = `
  update webhook_service.erasures
  set last_pass_at = now() + greatest($2 * interval '1 millisecond', ${JOB_LEASE}) + interval '3 seconds'
  where id = $1 and status = 'running' and last_pass_at is null`;

const FINISH = `
  update webhook_service.erasures set status = 'done', completed_at = now(), sealed_user = null
  where id = $1 and status = 'running' and last_pass_at <= now()`;

const DUE = `
  select id, sealed_user as "sealedUser", last_pass_at is not null as "isLastPass" from webhook_service.erasures
  where status = 'running' and coalesce(last_pass_at <= now(), true) order by id`;

export interface DueErasure {
  id: string;
  sealedUser: Buffer;
  isLastPass: boolean;
}

export type PageAction = (manager: EntityManager) => Promise<number>;

@Injectable()
export class ErasuresRepository {
  constructor(
    @InjectRepository(Erasure) private readonly erasures: Repository<Erasure>,
    private readonly config: Config,
  ) {}

  /**
   * Begins an erasure and ends the user's tokens and links. While one of the user is running, returns that one.
   * @param userHashes see `userHashes`; the first one is stored
   */
  begin(
    userId: string,
    userHashes: readonly Buffer[],
    wanted: Pick<Erasure, 'id' | 'sealedUser' | 'requestedBy'>,
  ): Promise<Erasure> {
    return this.erasures.manager.transaction(async (manager) => {
      await manager.query(LOCK, [`erasure of ${userId}`]);
      const running = await manager.findOneBy(Erasure, { userHash: In([...userHashes]), status: 'running' });
      if (running) return running;
      await manager.insert(Erasure, { ...wanted, userHash: userHashes[0] });
      for (const statement of END_ACCESS) await manager.query(statement, [userId]);
      return manager.findOneByOrFail(Erasure, { id: wanted.id });
    });
  }

  find(id: string): Promise<Erasure | null> {
    return this.erasures.findOneBy({ id });
  }

  /** Returns one page of erasures, newest first; with hashes, only those of this user. */
  list(page: PageRequest, scope: string, userHashes?: readonly Buffer[]): Promise<Page<Erasure>> {
    const query = this.erasures.createQueryBuilder('e').where(userHashes ? { userHash: In([...userHashes]) } : {});
    const hash = userHashes?.[0]?.toString('base64url');
    return newestFirst(query, page, [scope, 'erasures', { ...(hash !== undefined && { hash }) }]);
  }

  due(): Promise<DueErasure[]> {
    return this.erasures.query(DUE);
  }

  /**
   * Runs the action and adds the number of rows that it returns to the counts, in one transaction. Returns null when the
   * erasure has ended or another process changes a page of it.
   */
  page(id: string, kind: ErasureKind | null, action: PageAction): Promise<number | null> {
    return this.erasures.manager.transaction(async (manager) => {
      const [held] = await manager.query<unknown[]>(HOLD, [id]);
      if (!held) return null;
      const count = await action(manager);
      if (count > 0 && kind) await manager.query(COUNT, [id, kind, count]);
      return count;
    });
  }

  async awaitLastPass(id: string): Promise<void> {
    await this.erasures.query(AWAIT_LAST_PASS, [id, this.config.deliveryTimeoutMs]);
  }

  async finish(id: string): Promise<void> {
    await this.erasures.query(FINISH, [id]);
  }
}
