import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { exchange } from '../../support/api';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { defaultSettings, freePort, hasExited, serviceFile } from '../../support/service';
import { waitFor } from '../../support/wait-for';

const TOKEN = `wns_${'a'.repeat(43)}`;

describe('A log that cannot be written', () => {
  let database: TestDatabase;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    database = await cloneDatabase();
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await waitFor(() => children.every(hasExited), { what: 'the end of the services' });
    await database.drop();
  });

  /** Starts the service with this standard output, and waits until it is ready. */
  async function start(stdout: number | 'pipe'): Promise<{ child: ChildProcess; url: string }> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = { PATH: process.env.PATH, ...defaultSettings(database.url, TOKEN), PORT: String(port) };
    const child = spawn(process.execPath, [serviceFile('src/main.js')], { env, stdio: ['ignore', stdout, 'ignore'] });
    children.push(child);
    const status = (path: string) => exchange(url, 'GET', path).then((answer) => answer.status);
    await waitFor(async () => (await status('/health/ready').catch(() => 0)) === 200, {
      what: 'a service that is ready',
    });
    return { child, url };
  }

  it.each(['of a full disk', 'of a reader that is gone'])('because %s stops nothing', async (why) => {
    const isFull = why.includes('disk');
    const full = isFull ? openSync('/dev/full', 'w') : 'pipe';
    const { child, url } = await start(full);
    if (typeof full === 'number') closeSync(full);
    child.stdout?.destroy();
    const headers = { authorization: `Bearer ${TOKEN}` };
    // Each of them is a line.
    for (let i = 0; i < 200; i++) expect((await exchange(url, 'GET', '/api/me', { headers })).status).toBe(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
