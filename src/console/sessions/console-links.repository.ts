import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isLive, isRevoked } from '../../auth/live-token';
import type { LinkGrant, MadeWith } from './console-link';

const MAX_SESSIONS = 20;

/** Inserts a link, and deletes some whose codes have expired. */
export const INSERT_LINK = `
  with old as (
    delete from webhook_service.console_links
    where code_hash = any(array(
      select code_hash from webhook_service.console_links where code_expires_at < now() limit 100 for update skip locked))
  )
  insert into webhook_service.console_links
    (code_hash, user_id, scopes, expires_at, parent_id, bootstrap_hash, code_expires_at)
  values ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 millisecond')
  returning code_expires_at as "codeExpiresAt"`;

/** Only one of several concurrent requests gets the row. A token that has expired but is not deleted yet creates no session. */
const TAKE_LINK = `
  delete from webhook_service.console_links l
  where l.code_hash = $1 and l.code_expires_at > now() and l.expires_at > now()
    and (l.parent_id is null or exists (
      select from webhook_service.access_tokens t where t.id = l.parent_id and ${isLive('t')}))
  returning user_id as "userId", scopes, expires_at as "expiresAt", parent_id as "tokenId", bootstrap_hash as "bootstrapHash"`;

/** Locks the token until the transaction ends, so that its row stays: a revocation ends the new session too. */
const HOLD_TOKEN = `
  select is_session as "isSession" from webhook_service.access_tokens t where id = $1 and not ${isRevoked('t')} for key share`;

const END_SESSION = `
  update webhook_service.access_tokens t set revoked_at = now() where id = $1 and is_session and not ${isRevoked('t')}`;

const LOCK_SESSIONS = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';

const END_OLDEST = `
  update webhook_service.access_tokens set revoked_at = now() where id = any(array(
    select id from webhook_service.access_tokens where user_id = $1 and is_session and revoked_at is null
    order by id desc offset ${MAX_SESSIONS - 1}))`;

const OF_OTHER_BOOTSTRAP_TOKENS = 'bootstrap_hash is not null and bootstrap_hash is distinct from $1';
const END_OF_OTHER_BOOTSTRAP_TOKENS = [
  `delete from webhook_service.console_links where ${OF_OTHER_BOOTSTRAP_TOKENS}`,
  `update webhook_service.access_tokens set revoked_at = now() where revoked_at is null and ${OF_OTHER_BOOTSTRAP_TOKENS}`,
];

@Injectable()
export class ConsoleLinksRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Inserts a link, and returns the expiry of its code. Fails on a foreign key when the token was revoked. */
  async insert(codeHash: Buffer, grant: LinkGrant, made: MadeWith, codeLivesMs: number): Promise<Date> {
    const { userId, scopes, expiresAt } = grant;
    const values = [codeHash, userId, scopes, expiresAt, made.tokenId, made.bootstrapHash, codeLivesMs];
    const [row] = await this.dataSource.query<{ codeExpiresAt: Date }[]>(INSERT_LINK, values);
    return row?.codeExpiresAt as Date;
  }

  /** Deletes a valid link and returns its grant, in the caller's transaction. Null if there is none. */
  async take(manager: EntityManager, codeHash: Buffer): Promise<(LinkGrant & MadeWith) | null> {
    const [[link]] = await manager.query<[(LinkGrant & MadeWith)[], number]>(TAKE_LINK, [codeHash]);
    return link ?? null;
  }

  /** Locks a token until the transaction ends. Returns whether it is a session; null if it was revoked. */
  async hold(manager: EntityManager, tokenId: string): Promise<boolean | null> {
    const [token] = await manager.query<{ isSession: boolean }[]>(HOLD_TOKEN, [tokenId]);
    return token?.isSession ?? null;
  }

  /** Ends a session and revokes everything created with it. Returns whether a session with this id existed. */
  async end(tokenId: string): Promise<boolean> {
    const [, ended] = await this.dataSource.query<[unknown, number]>(END_SESSION, [tokenId]);
    return ended > 0;
  }

  /**
   * Ends the oldest sessions of a user to make room for one, and returns their number. Holds a lock per user until the
   * transaction ends.
   */
  async makeRoom(manager: EntityManager, userId: string): Promise<number> {
    await manager.query(LOCK_SESSIONS, [`sessions of ${userId}`]);
    const [, ended] = await manager.query<[unknown, number]>(END_OLDEST, [userId]);
    return ended;
  }

  async endOthers(bootstrapHash: Buffer | null): Promise<void> {
    for (const statement of END_OF_OTHER_BOOTSTRAP_TOKENS) await this.dataSource.query(statement, [bootstrapHash]);
  }
}
