import { faultLasts } from '../../support/chronicle';
import type { ChaosRedis } from './chaos-redis';
import type { Stage } from './chaos-stage';
import type { TcpProxy } from '../../support/proxy';
import type { Fault } from './fault';

type RedisAction = (redis: ChaosRedis, network: TcpProxy, stage: Stage) => Promise<void>;

function redisFault(name: string, form: Fault['form'], act: RedisAction): Fault {
  return {
    name,
    store: 'Redis',
    form,
    strike: async ({ stage }) => {
      if (!stage.redis || !stage.redisNetwork) throw new Error('There is no Redis on this stage.');
      const isOver = stage.chronicle.tear('Redis');
      await act(stage.redis, stage.redisNetwork, stage).finally(isOver);
    },
  };
}

const down = (seconds: number, form: Fault['form']) =>
  redisFault(`Redis is down for ${seconds} s`, form, async (redis) => {
    await redis.kill();
    await faultLasts(seconds * 1000);
    await redis.comeBack('with its data');
  });

const backEmpty = (seconds: number, form: Fault['form']) =>
  redisFault(`Redis is killed and comes back empty after ${seconds} s`, form, async (redis) => {
    await redis.kill();
    await faultLasts(seconds * 1000);
    await redis.comeBack('empty');
  });

export const REDIS_FAULTS: Fault[] = [
  down(1, 'short'),
  down(7, 'long'),
  down(30, 'once'),
  down(120, 'once'),
  backEmpty(1, 'short'),
  backEmpty(7, 'long'),

  redisFault('FLUSHALL', 'short', async (redis) => void (await redis.command('FLUSHALL'))),

  redisFault('CLIENT KILL of everybody', 'short', async (redis) => {
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  }),

  redisFault('DEBUG SLEEP of 6 s', 'long', async (redis) => void (await redis.command('DEBUG', 'SLEEP', '6'))),

  redisFault('the memory limit of Redis is reached for 5 s', 'long', async (redis) => {
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    await faultLasts(5000);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
  }),

  redisFault('Redis takes no writes for 20 s (NOREPLICAS)', 'long', async (redis) => {
    await redis.command('CONFIG', 'SET', 'min-replicas-to-write', '9');
    await faultLasts(20_000);
    await redis.command('CONFIG', 'SET', 'min-replicas-to-write', '0');
  }),

  redisFault('the address of Redis moves to its replica, and open connections stay', 'long', async (redis, network) => {
    await redis.failOver(network);
    // Under load; afterwards all must have been received.
    await faultLasts(10_000);
  }),

  redisFault('the network to Redis is cut for 3 s', 'long', async (_, network) => {
    await network.cut();
    await faultLasts(3000);
    await network.pass();
  }),

  redisFault('the network to Redis is black-holed for 8 s, without a reset', 'long', async (_, network) => {
    network.blackHole();
    await faultLasts(8000);
    await network.pass();
  }),

  redisFault('the network to Redis is 150 ms slow for 5 s', 'long', async (_, network) => {
    network.delay(150);
    await faultLasts(5000);
    await network.pass();
  }),

  redisFault('a worker starts while Redis is down', 'long', async (redis, _, { workers }) => {
    const [worker] = workers;
    await redis.kill();
    await worker?.kill();
    await worker?.start();
    await redis.comeBack('with its data');
  }),
];
