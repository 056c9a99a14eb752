import { mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { Api, exchange } from '../../support/api';
import { Chronicle } from '../../support/chronicle';
import { useReceiver } from '../../support/receiver';
import { type RedisPair, startRedisPair } from '../../support/redis-pair';
import { defaultSettings } from '../../support/service';
import { ServiceProcess } from '../../support/service-process';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { describeWhereInstalled } from '../../support/programs';
import { waitFor } from '../../support/wait-for';
import { publish, subscribe } from '../stage/steps';

/** From the promotion on, and from the fault on. */
const DELIVERS_WITHIN_MS = 10_000;
const TOLD_WITHIN_MS = 15_000;

describeWhereInstalled('redis-server', 'When Redis takes no writes', () => {
  describe.each([[['api', 'worker']], [['all']]])('the roles %j', (roles) => {
    const receiver = useReceiver();
    const token = `wns_${randomBytes(32).toString('base64url')}`;
    let folder: string;
    let pair: RedisPair;
    let database: TestDatabase;
    let processes: ServiceProcess[] = [];
    let api: Api;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'redis-failover-'));
      pair = await startRedisPair({ dir: folder });
      database = await cloneDatabase();
      const settings = { ...defaultSettings(database.url, token), REDIS_URL: pair.url };
      const create = (role: string) => ServiceProcess.create(role, { ...settings, ROLE: role }, new Chronicle());
      processes = await Promise.all(roles.map(create));
      await Promise.all(processes.map((process) => process.start()));
      api = new Api(processes[0]!.url, token);
      await allTell('well');
    });
    afterAll(async () => {
      for (const process of processes) expect((await process.end()).exitCode).toBe(0);
      await database.drop();
      await pair.stop();
      await rm(folder, { recursive: true, force: true });
    });

    /** Waits until every process calls its queue so. */
    async function allTell(verdict: 'well' | 'not well'): Promise<void> {
      const tells = async (process: ServiceProcess) => (await process.ready()).checks.queue === verdict;
      const patience = { what: `a queue that is ${verdict}`, timeoutMs: TOLD_WITHIN_MS };
      await Promise.all(processes.map((process) => waitFor(() => tells(process), patience)));
    }

    it('delivers again within 10 s of a failover that closes no connection', async () => {
      // Failed first attempts, whose retries need the queue and the sweeper.
      const hook = receiver.hook({ status: 200 }, { status: 500 }, { status: 500 }, { status: 200 });
      const { id } = await subscribe(api, hook, ['job.started']);
      const published = [await publish(api, 'job.started')];
      await hook.received(1);
      for (const round of [1, 2]) {
        await pair.failOver();
        const before = hook.calls.length;
        const isReceived = async () => {
          published.push(await publish(api, 'job.started'));
          return hook.calls.length > before;
        };
        const what = `a delivery after failover ${round}`;
        // eslint-disable-next-line no-restricted-syntax -- a promise
        await waitFor(isReceived, { what, timeoutMs: DELIVERS_WITHIN_MS, everyMs: 200 });
        await allTell('well');
      }
      const delivered = `select distinct event_id from webhook_service.deliveries where webhook_id = '${id}' and status = 'succeeded'`;
      const isComplete = async () => (await database.query(delivered)).length === published.length;
      await waitFor(isComplete, { what: 'every event' });
      await api.deleteWebhook(id);
    });

    it.each<[string, (redis: RedisPair) => Promise<unknown>, (redis: RedisPair) => Promise<unknown>]>([
      [
        'NOREPLICAS',
        (redis) => redis.run('CONFIG', 'SET', 'min-replicas-to-write', 2),
        (redis) => redis.run('CONFIG', 'SET', 'min-replicas-to-write', 0),
      ],
      [
        'OOM',
        (redis) => redis.run('CONFIG', 'SET', 'maxmemory', 1),
        (redis) => redis.run('CONFIG', 'SET', 'maxmemory', 0),
      ],
      ['READONLY', (redis) => redis.run('REPLICAOF', '127.0.0.1', 1), (redis) => redis.run('REPLICAOF', 'NO', 'ONE')],
      ['MISCONF', failToSave, saveAgain],
    ])('is not ready while writes fail with %s, says so, and delivers afterwards', async (code, begin, end) => {
      const hook = receiver.hook();
      const { id } = await subscribe(api, hook, ['job.started']);
      await begin(pair);
      await allTell('not well');
      const details = JSON.stringify({ queue: `The queue's Redis takes no writes (${code}).` });
      // Between two connections to a replica there is no code.
      const isTold = async () => (await exchange(processes[0]!.url, 'GET', '/health/ready')).text.includes(details);
      await waitFor(isTold, { what: 'the code' });
      await publish(api, 'job.started');
      await end(pair);
      await allTell('well');
      await hook.received(1);
      await api.deleteWebhook(id);
    });

    /** A folder in the place of the dump makes every snapshot fail. */
    async function failToSave(redis: RedisPair): Promise<void> {
      await mkdir(join(folder, 'dump.rdb'));
      await redis.run('CONFIG', 'SET', 'save', '3600 1');
      await redis.run('BGSAVE');
      await saved(redis, 'err');
    }

    async function saveAgain(redis: RedisPair): Promise<void> {
      await rmdir(join(folder, 'dump.rdb'));
      await redis.run('BGSAVE');
      await saved(redis, 'ok');
    }

    const saved = (redis: RedisPair, status: string) =>
      waitFor(async () => String(await redis.run('INFO', 'persistence')).includes(`bgsave_status:${status}`), {
        what: 'the end of a snapshot',
      });
  });
});
