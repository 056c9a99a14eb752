import { faultLasts } from '../support/chronicle';
import { type Stage, useStage } from './stage/chaos-stage';
import { isLong } from './stage/form';
import { availabilityOf, print } from './stage/report';
import { waitFor } from '../support/wait-for';
import { isSettled, NOTHING_AMISS, subscribeEverybody, verdictOn } from './stage/fault-steps';
import { describeOnRedisAlone } from './stage/store-names';

const PER_SECOND = 50;
const LASTS_MS = isLong ? 30_000 : 2500;
const P99_MS = 250;
/** A machine that is busy publishes less often, and so for longer. */
const AT_LEAST = (LASTS_MS / 1000) * PER_SECOND * 0.8;

const redisOf = ({ redis }: Stage) => redis!;

/** Every way in which the queue is not there, and how it comes back. */
const ABSENCES = {
  'is killed, and comes back empty': {
    leave: (stage: Stage) => redisOf(stage).kill(),
    comeBack: (stage: Stage) => redisOf(stage).comeBack('empty'),
  },
  'is black-holed': {
    leave: async ({ redisNetwork }: Stage) => redisNetwork!.blackHole(),
    comeBack: ({ redisNetwork }: Stage) => redisNetwork!.pass(),
  },
  'was not there when the API started': {
    leave: async (stage: Stage) => {
      await stage.api.end();
      await redisOf(stage).kill();
      await stage.api.start();
    },
    comeBack: (stage: Stage) => redisOf(stage).comeBack('with its data'),
  },
};

describeOnRedisAlone('With a Redis that', () => {
  const stage = useStage(() => ({ store: 'Redis' }), subscribeEverybody);

  it.each(Object.entries(ABSENCES).slice(0, isLong ? undefined : 1))(
    '%s every publication is answered 202, and delivered later',
    async (what, { leave, comeBack }) => {
      const { load, chronicle } = stage();
      await leave(stage());
      const before = load.publications.length;
      load.start(PER_SECOND);
      await faultLasts(LASTS_MS);
      await waitFor(() => load.publications.length - before > 1.1 * AT_LEAST, { what: 'enough publications' });
      await load.stop();
      await comeBack(stage());

      const { asked, refused, p50Ms, p99Ms } = availabilityOf(load.publications.slice(before), chronicle);
      const share = ((100 * (asked - refused.length)) / asked).toFixed(2);
      print(`Redis ${what}: ${share} % of ${asked} answered 202 at ${PER_SECOND}/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms`);
      expect(asked).toBeGreaterThan(AT_LEAST);
      expect(refused).toEqual([]);
      if (isLong) expect(p99Ms).toBeLessThan(P99_MS);
      expect(await isSettled(stage())).toBe(true);
      expect((await verdictOn(stage())).verdict).toMatchObject({ ...NOTHING_AMISS, unscripted: [] });
    },
  );
});
