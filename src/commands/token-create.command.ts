import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { v7 } from 'uuid';
import { isUserId } from 'webhook-notification/catalogue';
import { readConfig } from '../infrastructure/config/environment.setup';
import { connect, migrate } from '../infrastructure/database/migrator.setup';
import { attachStore } from '../store.setup';
import { ALL_SCOPES, formatToken, hashToken, isScope } from '../auth/access-token';
import { timeOf } from '../infrastructure/validation/api-field.decorator';
import { Misunderstood, unknownScopes } from './misunderstood';

interface Wanted {
  user: string;
  scopes: string[];
  name: string;
  expires: Date | null;
}

function readArguments(args: string[]): Wanted {
  const options = {
    user: { type: 'string' },
    scopes: { type: 'string' },
    name: { type: 'string' },
    expires: { type: 'string' },
  } as const;
  const { user = '', scopes = '', name = 'command line', expires } = parseArgs({ args, options }).values;
  if (!isUserId(user)) throw new Misunderstood('--user must be 1 to 128 of the characters A-Z a-z 0-9 . _ @ : | -');
  const wanted = scopes === 'all' ? [...ALL_SCOPES] : scopes.split(',').filter((scope) => scope !== '');
  const unknown = wanted.filter((scope) => !isScope(scope));
  if (wanted.length === 0 || unknown.length > 0) throw new Misunderstood(unknownScopes(unknown));
  const expiresAt = expires === undefined ? null : timeOf(expires);
  if (expires !== undefined && !(expiresAt && expiresAt.getTime() > Date.now()))
    throw new Misunderstood('--expires must be an ISO 8601 time in the future, such as 2099-01-15T09:30:00Z');
  return { user, scopes: wanted, name, expires: expiresAt };
}

/** Runs `webhooks token create`: creates an access token and prints it, only this once, as the last line. */
export async function createToken(args: string[]): Promise<void> {
  const { user, scopes, name, expires } = readArguments(args);
  const store = await attachStore(readConfig());
  try {
    await migrate(store.config.databaseUrl ?? '');
    const token = formatToken(randomBytes(32));
    const client = await connect(store.config.databaseUrl ?? '');
    await client.query(
      `insert into webhook_service.access_tokens (id, user_id, name, token_hash, scopes, expires_at)
       values ($1, $2, $3, $4, $5, $6)`,
      [v7(), user, name, hashToken(token), scopes, expires],
    );
    await client.end();
    process.stdout.write(`${token}\n`);
  } finally {
    await store.close();
  }
}
