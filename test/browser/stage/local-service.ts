import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api, dataOf } from '../../support/api';
import { freePort, serviceFile } from '../../support/service';
import { waitFor } from '../../support/wait-for';

/** A service as somebody starts it who tries it: its own PostgreSQL, on loopback, with a link to the console printed. */
export interface LocalService {
  url: string;
  token: string;
  /** Good once. */
  link: string;
  /** A token of another user. */
  tokenFor(userId: string): Promise<string>;
  /** A link for another user, good once. */
  linkFor(userId: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startLocalService(settings: Record<string, string> = {}): Promise<LocalService> {
  const folder = await mkdtemp(join(tmpdir(), 'local-'));
  const port = String(await freePort());
  const child = spawn(process.execPath, [serviceFile('src/main.js')], {
    env: {
      ...{ PATH: process.env.PATH ?? '', DATA_DIR: join(folder, 'data'), PORT: port, LOG_LEVEL: 'silent' },
      ...{ RETRY_BASE_DELAY_MS: '10', RETRY_FACTOR: '1', MAX_RETRIES: '2', RATE_LIMIT_PER_MINUTE: '0' },
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await waitFor(() => printed.includes('curl'), { what: 'the welcome' });
  const url = `http://127.0.0.1:${port}`;
  const token = /wns_[A-Za-z0-9_-]{43}/.exec(printed)?.[0] ?? '';
  const scopes = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];
  const api = new Api(url, token);
  return {
    url,
    token,
    linkFor: async (userId) => url + (await dataOf(api.createConsoleLink({ userId, scopes }), 201)).url,
    tokenFor: async (userId) => (await dataOf(api.createToken({ name: userId, userId, scopes }), 201)).token,
    link: /http:\S+\/console#code=[A-Za-z0-9_-]{43}/.exec(printed)?.[0] ?? '',
    stop: async () => {
      if (child.exitCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
