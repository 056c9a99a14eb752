import { faultLasts } from '../../support/chronicle';
import type { ChaosPostgres } from './chaos-postgres';
import { waitFor } from '../../support/wait-for';
import type { Fault } from './fault';

function postgresFault(name: string, form: Fault['form'], act: (postgres: ChaosPostgres) => Promise<void>): Fault {
  return { name, form, strike: ({ stage }) => act(stage.postgres) };
}

const outage = (seconds: number, form: Fault['form']) =>
  postgresFault(`PostgreSQL is down for ${seconds} s`, form, async (postgres) => {
    await postgres.end('SIGINT');
    await faultLasts(seconds * 1000);
    await postgres.comeBack();
  });

/** What BullMQ's workers hear of new jobs by, when the queues are on PostgreSQL. */
const KILL_LISTENERS = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where backend_type = 'client backend' and application_name like '{%}%'`;

export const POSTGRES_FAULTS: Fault[] = [
  postgresFault('PostgreSQL restarts immediately', 'short', async (postgres) => {
    await postgres.end('SIGQUIT');
    await postgres.comeBack();
  }),

  postgresFault('PostgreSQL is killed with all its memory', 'long', async (postgres) => {
    await postgres.end('SIGKILL');
    await postgres.comeBack();
  }),

  {
    name: 'PostgreSQL restarts at the moment a worker starts',
    form: 'long',
    strike: async ({ stage: { postgres, workers }, random }) => {
      const worker = random.pick(workers);
      await worker.kill();
      await worker.start();
      await postgres.end('SIGQUIT');
      await postgres.comeBack();
    },
  },

  outage(3, 'long'),
  outage(30, 'once'),

  postgresFault('PostgreSQL is read-only for 4 s', 'long', async (postgres) => {
    await postgres.refuseWrites();
    await faultLasts(4000);
    await postgres.acceptWrites();
  }),

  {
    name: 'the network to PostgreSQL is black-holed for 8 s, without a reset',
    form: 'long',
    strike: async ({ stage: { postgres, postgresNetwork } }) => {
      postgres.goesAway();
      postgresNetwork.blackHole();
      await faultLasts(8000);
      await postgresNetwork.pass();
      postgres.isBack();
    },
  },

  {
    name: 'the LISTEN connections are killed',
    store: 'PostgreSQL',
    form: 'short',
    strike: async ({ stage: { postgres, chronicle } }) => {
      const isOver = chronicle.tear('LISTEN');
      // A worker that has much to do begins to listen when it has caught up.
      const kill = async () => (await postgres.query(KILL_LISTENERS)).length > 0;
      await waitFor(kill, { what: 'a worker that listens' });
      isOver();
    },
  },

  {
    name: 'every connection to PostgreSQL is killed',
    form: 'long',
    strike: async ({ stage: { postgres } }) => {
      postgres.goesAway();
      await postgres.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
      postgres.isBack();
    },
  },
];
