import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { isUserId } from 'webhook-notification/catalogue';
import { isScope, type Scope } from '../auth/access-token';
import { CODE_LIVES_MS, CONSOLE_PATH, grantOf, hashCode, linkUrl } from '../console/sessions/console-link';
import { INSERT_LINK } from '../console/sessions/console-links.repository';
import { readConfig } from '../infrastructure/config/environment.setup';
import { connect, migrate } from '../infrastructure/database/migrator.setup';
import { attachStore } from '../store.setup';
import { Misunderstood, unknownScopes } from './misunderstood';

const [SHORTEST_S, LONGEST_S] = [300, 604_800];

interface Wanted {
  user: string;
  scopes?: Scope[];
  expiresInSeconds?: number;
  path: string;
}

function readArguments(args: string[]): Wanted {
  const text = { type: 'string' } as const;
  const options = { user: text, scopes: text, 'expires-in': text, path: text };
  const { user = '', scopes, 'expires-in': expiresIn, path = '/console' } = parseArgs({ args, options }).values;
  if (!isUserId(user)) throw new Misunderstood('--user must be 1 to 128 of the characters A-Z a-z 0-9 . _ @ : | -');
  if (!CONSOLE_PATH.test(path)) throw new Misunderstood('--path must be a page of the console, such as /console');
  const wanted = scopes?.split(',').filter((scope) => scope !== '');
  const unknown = wanted?.filter((scope) => !isScope(scope)) ?? [];
  if (wanted?.length === 0 || unknown.length > 0) throw new Misunderstood(unknownScopes(unknown));
  const expiresInSeconds = expiresIn === undefined ? undefined : Number(expiresIn);
  const isInBounds = (seconds: number) => Number.isInteger(seconds) && seconds >= SHORTEST_S && seconds <= LONGEST_S;
  if (expiresInSeconds !== undefined && !isInBounds(expiresInSeconds))
    throw new Misunderstood(`--expires-in must be ${SHORTEST_S} to ${LONGEST_S} seconds`);
  return { user, scopes: wanted as Scope[] | undefined, expiresInSeconds, path };
}

/**
 * Runs `webhooks console-link`: creates a link that signs a user in to the console, once within 5 minutes, and prints its path.
 */
export async function createConsoleLink(args: string[]): Promise<void> {
  const { user, path, ...options } = readArguments(args);
  const store = await attachStore(readConfig());
  try {
    await migrate(store.config.databaseUrl ?? '');
    const code = randomBytes(32).toString('base64url');
    const { scopes, expiresAt } = grantOf(user, options, new Date());
    const client = await connect(store.config.databaseUrl ?? '');
    await client.query(INSERT_LINK, [hashCode(code), user, scopes, expiresAt, null, null, CODE_LIVES_MS]);
    await client.end();
    process.stdout.write(`${linkUrl(path, code)}\n`);
  } finally {
    await store.close();
  }
}
