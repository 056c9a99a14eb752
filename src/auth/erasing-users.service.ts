import { Injectable } from '@nestjs/common';
import { Config } from '../infrastructure/config/config';
import { SharedStateService } from '../infrastructure/database/shared-state.service';
import { ApiError, MESSAGES } from '../infrastructure/errors/api-error';
import { createHmac } from 'node:crypto';

/**
 * Hashes a user's id with HMAC-SHA-256 (RFC 2104) under each key, so that only a holder of a key can tell whether a hash is of
 * a given user. The prefix sets the hashes apart from other uses of the keys. The first hash is the one to store; all of them
 * are to be looked up.
 */
export const userHashes = (userId: string, keys: readonly Buffer[]): Buffer[] =>
  keys.map((key) => createHmac('sha256', key).update(`erased user\0${userId}`).digest());

const RUNNING = `
  select coalesce(string_agg(encode(user_hash, 'hex'), ' ' order by id), '')
  from webhook_service.erasures where status = 'running'`;

/**
 * Knows which users are being erased, so that no request and no event costs a statement. A process may learn of an erasure a
 * second late: the last pass of the erasure deletes what it has written by then.
 */
@Injectable()
export class ErasingUsersService {
  private hashes: ReadonlySet<string> = new Set();

  constructor(
    private readonly config: Config,
    shared: SharedStateService,
  ) {
    shared.watch(RUNNING, (hashes) => {
      this.hashes = new Set(hashes.match(/\S+/g));
    });
  }

  get areNone(): boolean {
    return this.hashes.size === 0;
  }

  includes(userId: string): boolean {
    if (this.areNone) return false;
    return userHashes(userId, this.config.secretsKeys).some((hash) => this.hashes.has(hash.toString('hex')));
  }

  refuse(userId: string): void {
    if (this.includes(userId)) throw new ApiError('user_erased', MESSAGES.userErased);
  }
}
