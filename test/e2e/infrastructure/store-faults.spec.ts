import { randomBytes } from 'node:crypto';
import { chown, mkdir, mkdtemp, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { Api, exchange } from '../../support/api';
import { Chronicle } from '../../support/chronicle';
import { cloneDatabase, databaseUrl, type TestDatabase } from '../../support/postgres';
import { startPostgres } from '../../support/postgres-server';
import { describeWhereInstalled } from '../../support/programs';
import { startProxy, type TcpProxy } from '../../support/proxy';
import { useReceiver } from '../../support/receiver';
import { type RedisPair, startRedisPair } from '../../support/redis-pair';
import { defaultSettings, freePort } from '../../support/service';
import { ServiceProcess } from '../../support/service-process';
import { waitFor } from '../../support/wait-for';
import { ordinaryPostgresBin } from '../../../scripts/ordinary-postgres.cjs';
import { scrape } from '../stage/metrics';
import { ask } from '../stage/postgres-pair';
import { EXAMPLES } from '../stage/examples';
import { describeWithSmallDisk, type SmallDisk } from '../stage/small-disk';
import { publish, subscribe } from '../stage/steps';

// Both stores, with the roles apart and together. Each fault lasts until every process has told it.

/** The promises: of a failover, of rows that are due (see docs/promises.md), and of readiness. */
const FAILS_OVER_WITHIN_MS = 10_000;
const DELIVERS_WITHIN_MS = 15_000;
const TOLD_WITHIN_MS = 15_000;

const ROLES = [[['api', 'worker']], [['all']]];
/** Each fault is tried with one of them; with both when LONG=1. */
const isTried = (roles: readonly string[]) => (_: unknown, i: number) =>
  process.env.LONG === '1' || i % ROLES.length === (roles.length === 1 ? 1 : 0);

interface Fault<Store> {
  name: string;
  begin(store: Store): Promise<unknown>;
  end(store: Store): Promise<unknown>;
  /** What `/health/ready` says of the store; null where the cause is not known. */
  detail: RegExp | null;
  /** Whether it refuses some writes only. */
  isPartial?: true;
}

interface Stage {
  databaseUrl: string;
  redisUrl?: string;
}

/** Starts processes of these roles, and returns what asks them. */
async function startFleet(roles: readonly string[], { databaseUrl: url, redisUrl }: Stage) {
  const token = `wns_${randomBytes(32).toString('base64url')}`;
  const settings = { ...defaultSettings(url, token), REDIS_URL: redisUrl, LOG_LEVEL: 'warn' };
  const metricsPorts = await Promise.all(roles.map(() => freePort()));
  const processes = await Promise.all(
    roles.map((role, i) =>
      ServiceProcess.create(role, { ...settings, ROLE: role, METRICS_PORT: String(metricsPorts[i]) }, new Chronicle()),
    ),
  );
  await Promise.all(processes.map((process) => process.start()));
  const checksOf = async ({ url }: ServiceProcess) => {
    const { text } = await exchange(url, 'GET', '/health/ready');
    return JSON.parse(text) as { checks: Record<string, string>; details?: Record<string, string> };
  };
  return {
    api: new Api(processes[0]!.url, token),
    processes,
    /** Waits until each process says this of a check, by its readiness and its metric. */
    allTell: async (check: string, verdict: 'well' | 'not well', detail: RegExp | null = null) => {
      const tells = async (process: ServiceProcess, i: number) => {
        const { checks, details } = await checksOf(process);
        const isTold =
          verdict === 'well' ? Object.values(checks).every((one) => one === 'well') : checks[check] === verdict;
        if (!isTold || (detail && !detail.test(details?.[check] ?? ''))) return false;
        const { values } = await scrape(metricsPorts[i]!);
        return values.get(`webhooks_ready{check="${check}"}`) === (verdict === 'well' ? 1 : 0);
      };
      const what = `${check} that is ${verdict}${detail ? ` (${detail})` : ''}`;
      const patience = { what, timeoutMs: TOLD_WITHIN_MS, everyMs: 200 };
      await Promise.all(processes.map((process, i) => waitFor(() => tells(process, i), patience)));
    },
    end: async () => {
      for (const process of processes) expect((await process.end()).exitCode).toBe(0);
    },
  };
}
type Fleet = Awaited<ReturnType<typeof startFleet>>;

const receiver = useReceiver();
const EVENT = { event: 'job.started', data: EXAMPLES['job.started'] };

/** Goes through a fault: what was accepted before and meanwhile is delivered soon after it. */
async function survive<Store>(fleet: Fleet, store: Store, fault: Fault<Store>, check: string, accepts: boolean) {
  const { api } = fleet;
  // The first attempt fails before the fault, and its retry is due during it.
  const hook = receiver.hook({ status: 500 }, { status: 200 });
  const { id } = await subscribe(api, hook, ['job.started'], { retryDelaysMs: [2000] });
  const accepted = [(await publish(api, 'job.started')).id];
  await hook.received(1);
  await fault.begin(store);
  try {
    await fleet.allTell(check, 'not well', fault.detail);
    const reply = await api.publish(EVENT);
    expect(fault.isPartial ? [202, 503] : [accepts ? 202 : 503]).toContain(reply.status);
    if (reply.status === 202) accepted.push((reply as unknown as { data: { id: string } }).data.id);
  } finally {
    await fault.end(store);
  }
  const isDelivered = () => {
    const received = new Set(hook.calls.slice(1).map(({ headers }) => headers['webhook-id']));
    return accepted.every((one) => received.has(one));
  };
  // eslint-disable-next-line no-restricted-syntax -- a promise
  await waitFor(isDelivered, { what: `deliveries after ${fault.name}`, timeoutMs: DELIVERS_WITHIN_MS });
  await fleet.allTell(check, 'well');
  await api.deleteWebhook(id);
}

const REDIS_FAULTS: Fault<RedisStage>[] = [
  {
    name: 'NOREPLICAS',
    begin: ({ pair }) => pair.run('CONFIG', 'SET', 'min-replicas-to-write', 2),
    end: ({ pair }) => pair.run('CONFIG', 'SET', 'min-replicas-to-write', 0),
    detail: /takes no writes \(NOREPLICAS\)/,
  },
  {
    name: 'OOM',
    begin: ({ pair }) => pair.run('CONFIG', 'SET', 'maxmemory', 1),
    end: ({ pair }) => pair.run('CONFIG', 'SET', 'maxmemory', 0),
    detail: /takes no writes \(OOM\)/,
  },
  {
    name: 'READONLY',
    begin: ({ pair }) => pair.run('REPLICAOF', '127.0.0.1', 1),
    end: ({ pair }) => pair.run('REPLICAOF', 'NO', 'ONE'),
    detail: /takes no writes \(READONLY\)/,
  },
  {
    name: 'MASTERDOWN',
    begin: async ({ pair }) => {
      await pair.run('CONFIG', 'SET', 'replica-serve-stale-data', 'no');
      await pair.run('REPLICAOF', '127.0.0.1', 1);
    },
    end: ({ pair }) => pair.run('REPLICAOF', 'NO', 'ONE'),
    detail: /takes no writes \((MASTERDOWN|READONLY)\)/,
  },
  {
    // A folder in the place of the dump makes every snapshot fail, as a full disk does.
    name: 'MISCONF',
    begin: async ({ pair, folder }) => {
      await mkdir(join(folder, 'dump.rdb'));
      await pair.run('CONFIG', 'SET', 'save', '3600 1');
      await pair.run('BGSAVE');
      await isSaved(pair, 'err');
    },
    end: async ({ pair, folder }) => {
      await rmdir(join(folder, 'dump.rdb'));
      await pair.run('BGSAVE');
      await isSaved(pair, 'ok');
      await pair.run('CONFIG', 'SET', 'save', '');
    },
    detail: /takes no writes \(MISCONF\)/,
  },
  {
    name: 'BUSY',
    begin: async ({ pair }) => {
      await pair.run('CONFIG', 'SET', 'busy-reply-threshold', 10);
      void pair.run('EVAL', 'while true do end', 0).catch(() => undefined);
    },
    // A new connection would wait for the answer to its own question.
    end: ({ held }) => held.call('SCRIPT', 'KILL'),
    detail: /takes no writes \(BUSY\)/,
  },
  {
    name: 'LOADING',
    begin: async ({ pair }) => {
      await pair.run('CONFIG', 'SET', 'loading-process-events-interval-bytes', 1024);
      await pair.run(
        'EVAL',
        `for i = 1, 500 do redis.call('set', 'filler:' .. i, string.rep(tostring(i), 2000)) end`,
        0,
      );
      await pair.run('CONFIG', 'SET', 'rdbcompression', 'no');
      await pair.run('CONFIG', 'SET', 'key-load-delay', 200_000);
      void pair.run('DEBUG', 'RELOAD').catch(() => undefined);
    },
    end: ({ held }) => held.call('CONFIG', 'SET', 'key-load-delay', 0),
    detail: /takes no writes \(LOADING\)/,
  },
  {
    name: 'another password',
    begin: async ({ held, password }) => {
      await held.call('CONFIG', 'SET', 'requirepass', `not ${password}`);
      await held.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    },
    end: ({ held, password }) => held.call('CONFIG', 'SET', 'requirepass', password),
    detail: null,
  },
  {
    name: 'too many clients',
    begin: async ({ held }) => {
      await held.call('CONFIG', 'SET', 'maxclients', 1);
      await held.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    },
    end: ({ held }) => held.call('CONFIG', 'SET', 'maxclients', 1000),
    detail: null,
  },
  {
    name: 'a black hole',
    begin: ({ pair }) => Promise.resolve(pair.network.blackHole()),
    end: ({ pair }) => pair.network.pass(),
    detail: null,
  },
];

interface RedisStage {
  pair: RedisPair;
  /** A connection that was there before the fault, past the proxy. */
  held: Redis;
  password: string;
  /** Of its snapshots. */
  folder: string;
}

const isSaved = (pair: RedisPair, status: string) =>
  waitFor(async () => String(await pair.run('INFO', 'persistence')).includes(`bgsave_status:${status}`), {
    what: 'the end of a snapshot',
  });

describeWhereInstalled('redis-server', 'Redis', () => {
  describe.each(ROLES)('below the roles %j', (roles) => {
    let stage: RedisStage;
    let database: TestDatabase;
    let fleet: Fleet;

    beforeAll(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'store-faults-'));
      const pair = await startRedisPair({ dir: folder, 'enable-debug-command': 'yes' });
      const held = new Redis(pair.directUrl);
      held.on('error', () => undefined);
      stage = { pair, held, folder, password: new URL(pair.url).password };
      database = await cloneDatabase();
      fleet = await startFleet(roles, { databaseUrl: database.url, redisUrl: pair.url });
      await fleet.allTell('queue', 'well');
    });
    afterAll(async () => {
      await fleet.end();
      await database.drop();
      stage.held.disconnect();
      await stage.pair.stop();
      await rm(stage.folder, { recursive: true, force: true });
    });

    it.each(REDIS_FAULTS.filter(isTried(roles)).map((fault) => [fault.name, fault] as const))(
      'is not well during %s, and soon after it all is delivered',
      (_, fault) => survive(fleet, stage, fault, 'queue', true),
    );

    it('delivers again within 10 s of a failover that closes no connection', async () => {
      // Failed first attempts, whose retries need the queue and the sweeper.
      const hook = receiver.hook({ status: 200 }, { status: 500 }, { status: 500 }, { status: 200 });
      const { id } = await subscribe(fleet.api, hook, ['job.started']);
      const published = [await publish(fleet.api, 'job.started')];
      await hook.received(1);
      for (const round of [1, 2]) {
        await stage.pair.failOver();
        const before = hook.calls.length;
        const isReceived = async () => {
          published.push(await publish(fleet.api, 'job.started'));
          return hook.calls.length > before;
        };
        const what = `a delivery after failover ${round}`;
        // eslint-disable-next-line no-restricted-syntax -- a promise
        await waitFor(isReceived, { what, timeoutMs: FAILS_OVER_WITHIN_MS, everyMs: 200 });
        await fleet.allTell('queue', 'well');
      }
      const delivered = `select distinct event_id from webhook_service.deliveries where webhook_id = '${id}' and status = 'succeeded'`;
      const isComplete = async () => (await database.query(delivered)).length === published.length;
      await waitFor(isComplete, { what: 'every event' });
      await fleet.api.deleteWebhook(id);
    });
  });
});

interface PostgresStage {
  network: TcpProxy;
  /** Of the service's database, past the proxy. */
  url: string;
  name: string;
  /** Connections that take all places of the server. */
  takers: Client[];
}

/** Ends the connections of the service. */
const endOthers = ({ url, name }: PostgresStage) =>
  ask(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = '${name}' and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  );

async function takePlaces({ takers }: PostgresStage): Promise<void> {
  for (;;) {
    const client = new Client({ connectionString: databaseUrl('postgres') });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch {
      return;
    }
    takers.push(client);
  }
}

const POSTGRES_FAULTS: Fault<PostgresStage>[] = [
  {
    name: 'a read-only database',
    begin: async (stage) => {
      await ask(stage.url, `alter database ${stage.name} set default_transaction_read_only = on`);
      await endOthers(stage);
    },
    end: async ({ url, name }) => ask(url, `alter database ${name} reset default_transaction_read_only`),
    detail: /takes no writes/,
  },
  {
    name: 'too many connections',
    begin: async (stage) => {
      await takePlaces(stage);
      // The service may take a place again that was just left.
      const end = `select pg_terminate_backend(pid, 1000) from pg_stat_activity where datname = '${stage.name}'`;
      while ((await stage.takers[0]!.query(end)).rowCount) await takePlaces(stage);
    },
    end: async ({ takers }) => void (await Promise.all(takers.splice(0).map((client) => client.end()))),
    detail: null,
  },
  {
    name: 'a black hole',
    begin: ({ network }) => Promise.resolve(network.blackHole()),
    end: ({ network }) => network.pass(),
    detail: null,
  },
];

const SERVER = join(ordinaryPostgresBin() ?? '/usr/lib/postgresql/15/bin', 'postgres');
describeWhereInstalled(SERVER, 'PostgreSQL', () => {
  let stopServer: () => Promise<void>;
  beforeAll(async () => {
    stopServer = await startPostgres(true, undefined, { max_connections: '60', superuser_reserved_connections: '0' });
  });
  afterAll(() => stopServer());

  describe.each(ROLES)('below the roles %j', (roles) => {
    let stage: PostgresStage;
    let database: TestDatabase;
    let fleet: Fleet;

    beforeAll(async () => {
      database = await cloneDatabase();
      const url = new URL(database.url);
      const network = await startProxy(Number(url.port));
      stage = { network, url: database.url, name: url.pathname.slice(1), takers: [] };
      url.port = String(network.port);
      fleet = await startFleet(roles, { databaseUrl: url.href });
      await fleet.allTell('postgres', 'well');
    });
    afterAll(async () => {
      await fleet.end();
      await stage.network.stop();
      await database.drop();
    });

    it.each(POSTGRES_FAULTS.filter(isTried(roles)).map((fault) => [fault.name, fault] as const))(
      'is not well during %s, and soon after it all is delivered',
      (_, fault) => survive(fleet, stage, fault, 'postgres', false),
    );
  });

  describeWithSmallDisk('with the tables of the service on a disk of their own', (disk) => {
    let database: TestDatabase;
    let fleet: Fleet;

    beforeAll(async () => {
      database = await cloneDatabase();
      const [server, folder] = [databaseUrl('postgres'), join(disk().folder, 'tables')];
      await mkdir(folder);
      const { uid, gid } = await stat(
        (await ask<{ data_directory: string }>(server, 'show data_directory'))[0]!.data_directory,
      );
      await chown(folder, uid, gid);
      await ask(server, `create tablespace small location '${folder}'`);
      await ask(server, `alter database ${new URL(database.url).pathname.slice(1)} set tablespace small`);
      fleet = await startFleet(['api', 'worker'], { databaseUrl: database.url });
      await fleet.allTell('postgres', 'well');
    });
    afterAll(async () => {
      await fleet.end();
      await database.drop();
      await ask(databaseUrl('postgres'), 'drop tablespace small');
    });

    it('is not well while that is full, and soon after it all is delivered', async () => {
      const fault: Fault<SmallDisk> = {
        name: 'a full disk',
        begin: async ({ fill }) => fill(),
        end: async ({ makeRoom }) => makeRoom(),
        detail: /disk of the database is full/,
        isPartial: true,
      };
      await survive(fleet, disk(), fault, 'postgres', false);
    });
  });
});
