import { faultLasts } from '../../support/chronicle';
import type { ServiceProcess } from '../../support/service-process';
import { DELIVERY_TIMEOUT_MS, type Stage } from './chaos-stage';
import { waitFor } from '../../support/wait-for';
import type { Fault, Scene } from './fault';
import { HOUR_MS } from '../../../src/infrastructure/config/durations';

/** After the last attempt: ten times what it takes on a quiet machine. */
const ENDS_WITHIN_MS = 50_000;

/** All workers at once, because a receiver cannot tell which of them has called. */
const killWorkers = ({ workers }: Stage) => Promise.all(workers.map((worker) => worker.kill()));
const startWorkers = ({ workers }: Stage) => Promise.all(workers.map((worker) => worker.start()));

async function endGracefully(worker: ServiceProcess, withinMs: number, complain: Scene['complain']): Promise<void> {
  const { exitCode, tookMs } = await worker.end();
  if (exitCode !== 0) complain(`${worker.name} ended with ${exitCode} after SIGTERM.`);
  if (tookMs > withinMs) complain(`${worker.name} took ${tookMs} ms to end after SIGTERM.`);
}

const frozen = (seconds: number, form: Fault['form']): Fault => ({
  name: `a worker is stopped for ${seconds} s and goes on`,
  form,
  strike: async ({ stage, random }) => {
    const worker = random.pick(stage.workers);
    worker.freeze();
    await faultLasts(seconds * 1000);
    worker.thaw();
  },
});

const clockOff = (name: string, ms: number): Fault => ({
  name: `a worker's clock is an hour ${name} for 10 s`,
  form: 'long',
  strike: async ({ stage, random, complain }) => {
    const worker = random.pick(stage.workers);
    await endGracefully(worker, DELIVERY_TIMEOUT_MS + ENDS_WITHIN_MS, complain);
    await worker.start(await stage.clockOff(ms));
    await faultLasts(10_000);
    await endGracefully(worker, DELIVERY_TIMEOUT_MS + ENDS_WITHIN_MS, complain);
    await worker.start();
  },
});

export const PROCESS_FAULTS: Fault[] = [
  {
    name: 'kill -9 of a worker at any moment',
    form: 'short',
    strike: async ({ stage, random }) => {
      const worker = random.pick(stage.workers);
      await faultLasts(random.between(0, 500));
      await worker.kill();
      await worker.start();
    },
  },
  {
    name: 'kill -9 of the workers before the request',
    form: 'long',
    strike: async ({ stage }) => {
      // Whoever loads a delivery reads its webhook, and waits here.
      const unlock = await stage.postgres.lock('webhook_service.webhooks', 'access exclusive');
      try {
        await waitFor(() => isLoading(stage), { what: 'a job that loads its delivery' });
        await killWorkers(stage);
      } finally {
        await unlock();
      }
      await startWorkers(stage);
    },
  },
  {
    name: 'kill -9 of the workers during the request',
    form: 'long',
    strike: async ({ stage }) => {
      const answer = stage.ledger.hold();
      await waitFor(() => stage.ledger.open().length > 0, { what: 'a request without an answer', everyMs: 2 });
      await killWorkers(stage);
      answer();
      await startWorkers(stage);
    },
  },
  {
    name: 'kill -9 of the workers after the response, before the record',
    form: 'short',
    strike: async ({ stage }) => {
      const answer = stage.ledger.hold();
      const called = await waitFor(() => stage.ledger.open()[0], { what: 'a request without an answer', everyMs: 2 });
      // Nobody can write an outcome, so what is answered from now on is not recorded.
      const unlock = await stage.postgres.lock('webhook_service.deliveries', 'share row exclusive');
      try {
        answer();
        await waitFor(() => called.answeredAt, { what: 'an answer that cannot be recorded', everyMs: 2 });
        await killWorkers(stage);
      } finally {
        await unlock();
      }
      await startWorkers(stage);
    },
  },
  {
    name: 'kill -9 of the API at any moment',
    form: 'long',
    strike: async ({ stage, random }) => {
      await faultLasts(random.between(0, 500));
      const burst = stage.load.burst(20);
      await faultLasts(random.between(0, 20));
      await stage.api.kill();
      await burst;
      await stage.api.start();
    },
  },
  frozen(12, 'long'),
  frozen(60, 'once'),
  {
    name: 'SIGTERM of a worker under load',
    form: 'short',
    strike: async ({ stage, random, complain }) => {
      const worker = random.pick(stage.workers);
      await endGracefully(worker, DELIVERY_TIMEOUT_MS + ENDS_WITHIN_MS, complain);
      await worker.start();
    },
  },
  {
    name: 'SIGTERM of a worker whose receiver hangs',
    form: 'long',
    strike: async ({ stage, random, complain }) => {
      const worker = random.pick(stage.workers);
      const answer = stage.ledger.hold();
      await waitFor(() => stage.ledger.open().length > 0, { what: 'a request without an answer' });
      await endGracefully(worker, DELIVERY_TIMEOUT_MS + ENDS_WITHIN_MS, complain);
      answer();
      await worker.start();
    },
  },
  {
    name: 'SIGTERM of a worker while Redis is down',
    store: 'Redis',
    form: 'long',
    strike: async ({ stage, random, complain }) => {
      const worker = random.pick(stage.workers);
      await stage.redis?.kill();
      await endGracefully(worker, DELIVERY_TIMEOUT_MS + ENDS_WITHIN_MS, complain);
      await stage.redis?.comeBack('with its data');
      await worker.start();
    },
  },
  {
    name: 'kill -9 of the API between insert and enqueue',
    store: 'Redis',
    form: 'long',
    strike: async ({ stage }) => {
      // Redis does not answer, so what is accepted now cannot have been enqueued.
      stage.redis?.freeze();
      await stage.load.burst(5);
      await stage.api.kill();
      stage.redis?.thaw();
      await stage.api.start();
    },
  },
  {
    name: 'three more sweepers at once, and everything unattended',
    form: 'long',
    strike: async ({ stage, complain }) => {
      const names = ['sweeper-1', 'sweeper-2', 'sweeper-3'];
      const more = await Promise.all(names.map((name) => stage.process(name, { ROLE: 'worker' })));
      await Promise.all(more.map((worker) => worker.start()));
      // Of attempts in flight this is not true, and nobody can tell: they are repeated.
      const isSaid = stage.chronicle.tear('attendance');
      await stage.postgres.query(`update webhook_service.deliveries set leased_until = now() where status = 'pending'`);
      isSaid();
      await faultLasts(3000);
      await Promise.all(more.map((worker) => endGracefully(worker, DELIVERY_TIMEOUT_MS + ENDS_WITHIN_MS, complain)));
    },
  },
  clockOff('ahead', HOUR_MS),
  clockOff('behind', -HOUR_MS),
];

async function isLoading({ postgres }: Stage): Promise<boolean> {
  // pg_stat_activity cuts queries after 1,024 characters: before the columns that a claim reads of webhooks.
  const blocked = await postgres.query(
    `select from pg_locks join pg_stat_activity using (pid)
     where not granted and relation = 'webhook_service.webhooks'::regclass and query ~ 'deliveries|sealedSecret'`,
  );
  return blocked.length > 0;
}
