import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeAuthority } from '../../support/hostile-certificates';
import { useReceiver } from '../../support/receiver';
import { startRedis } from '../../support/redis';
import { startSentinels } from '../../support/redis-sentinels';
import { defaultSettings, freePort, runCommand, type Settings, startService } from '../../support/service';
import { describeWithRedis } from '../../support/stores';
import { startTlsPostgres, type TlsPostgres } from '../../support/tls-postgres';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

const HOST = '127.0.0.1';
const authority = makeAuthority('private authority');
const other = makeAuthority('another authority');

describe('PostgreSQL with TLS and a private authority', () => {
  const receiver = useReceiver();
  let folder: string;
  let postgres: TlsPostgres;
  let authorities: Record<'own' | 'other', string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'authorities-'));
    authorities = { own: join(folder, 'own.pem'), other: join(folder, 'other.pem') };
    await writeFile(authorities.own, authority.cert);
    await writeFile(authorities.other, other.cert);
    postgres = await startTlsPostgres(authority.issue(HOST));
  });
  afterAll(async () => {
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const UNKNOWN = /^The database of DATABASE_URL cannot be used: unable to verify the first certificate$/m;
  const OTHER_NAME =
    /^The database of DATABASE_URL cannot be used: Hostname\/IP does not match certificate's altnames/m;
  const withExtra = () => ({ NODE_EXTRA_CA_CERTS: authorities.own });
  const CASES: [string, () => string, RegExp | null, (() => Settings)?][] = [
    ['verify-full with the authority', () => `sslmode=verify-full&sslrootcert=${authorities.own}`, null],
    ['verify-full with another authority', () => `sslmode=verify-full&sslrootcert=${authorities.other}`, UNKNOWN],
    ['verify-full with NODE_EXTRA_CA_CERTS', () => 'sslmode=verify-full', null, withExtra],
    ['require, which verifies too', () => 'sslmode=require', UNKNOWN],
    ['require with NODE_EXTRA_CA_CERTS', () => 'sslmode=require', null, withExtra],
    ['require as libpq understands it', () => 'uselibpqcompat=true&sslmode=require', null],
    ['no-verify', () => 'sslmode=no-verify', null],
  ];

  it.each(CASES)('%s', async (_, query, refusal, more = () => ({})) => {
    const settings = defaultSettings(`${postgres.url}?${query()}`, `wns_${'a'.repeat(43)}`);
    const { exitCode, stderr } = await runCommand(['migrate'], { ...settings, ...more() });
    if (refusal) expect(stderr).toMatch(refusal);
    expect(exitCode).toBe(refusal ? 1 : 0);
  });

  it('verify-full refuses another host name', async () => {
    const url = `${postgres.url.replace(HOST, 'localhost')}?sslmode=verify-full&sslrootcert=${authorities.own}`;
    const { exitCode, stderr } = await runCommand(['migrate'], defaultSettings(url, `wns_${'a'.repeat(43)}`));
    expect(stderr).toMatch(OTHER_NAME);
    expect(exitCode).toBe(1);
  });

  async function delivers(more: Settings): Promise<void> {
    const url = `${postgres.url}?sslmode=verify-full&sslrootcert=${authorities.own}`;
    const database = { url, query: postgres.query, drop: async () => undefined };
    const service = await startService(more, database);
    try {
      const hook = receiver.hook({ status: 500 }, { status: 200 });
      const webhook = await subscribe(service.api, hook, ['job.started']);
      await settledDeliveries(service.api, webhook, await publish(service.api, 'job.started'));
      expect(hook.calls).toHaveLength(2);
      const open = await postgres.query<{ ssl: boolean }>(
        `select ssl from pg_stat_activity join pg_stat_ssl using (pid) where datname is not null and pid <> pg_backend_pid()`,
      );
      expect(new Set(open.map(({ ssl }) => ssl))).toEqual(new Set([true]));
    } finally {
      expect(await service.stop()).toBe(0);
    }
  }

  it('carries the service, with queues on PostgreSQL', () => delivers({}));

  describeWithRedis('and Redis with the same authority', () => {
    let files: Record<string, string>;
    beforeAll(async () => {
      const { cert, key } = authority.issue(HOST);
      files = { 'tls-cert-file': join(folder, 'redis.crt'), 'tls-key-file': join(folder, 'redis.key') };
      await writeFile(files['tls-cert-file']!, cert);
      await writeFile(files['tls-key-file']!, key);
      files = { ...files, 'tls-ca-cert-file': authorities.own, 'tls-auth-clients': 'no' };
    });

    it('carries the service', async () => {
      const port = String(await freePort());
      const redis = await startRedis({ ...files, 'tls-port': port });
      try {
        const url = Object.assign(new URL(redis.url), { port }).href.replace('redis:', 'rediss:');
        await delivers({ REDIS_URL: url, ...withExtra() });
      } finally {
        await redis.stop();
      }
    });

    it('carries the service with Sentinels', async () => {
      const sentinels = await startSentinels(Object.entries(files).map(([name, value]) => `${name} ${value}`));
      try {
        await delivers({ REDIS_URL: sentinels.url, ...withExtra() });
      } finally {
        await sentinels.stop();
      }
    });
  });
});
