import { useServiceProcess } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';

/** The service's own seven looks a second, and what BullMQ asks of queues that are empty. */
const MOST_STATEMENTS_A_SECOND = { Redis: 9, PostgreSQL: 13 };
const WINDOW_S = 4;

describeOnStores('A service with nothing to do', (store) => {
  const service = useServiceProcess(() => store.settings());

  it('asks PostgreSQL no more than needed', async () => {
    const look = async () => {
      const [row] = await service.database.query<{ statements: number; at: number }>(
        `select xact_commit::int as statements, extract(epoch from clock_timestamp())::float8 as at
         from pg_stat_database where datname = current_database()`,
      );
      return row ?? { statements: 0, at: 0 };
    };
    let from = await look();
    const perSecond = async () => {
      const to = await look();
      const seconds = to.at - from.at;
      if (seconds < WINDOW_S) return false;
      const rate = (to.statements - from.statements) / seconds;
      from = to;
      return rate <= MOST_STATEMENTS_A_SECOND[store.name];
    };
    await waitFor(perSecond, { what: 'a few statements a second', everyMs: 1000 });
  });
});
