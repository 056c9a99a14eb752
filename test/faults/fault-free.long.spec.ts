import { useStage } from './stage/chaos-stage';
import { isLong } from './stage/form';
import { print, summaryOf } from './stage/report';
import { expectedPairs, isSettled, NOTHING_AMISS, subscribeEverybody, verdictOn } from './stage/fault-steps';
import { describeOnStoreNames } from './stage/store-names';

const DELIVERIES = isLong ? 5000 : 500;
const AT_ONCE = 50;

describeOnStoreNames('Without any fault', (store) => {
  const stage = useStage(() => ({ store }), subscribeEverybody);

  it(`of ${DELIVERIES} deliveries none is lost and none is sent twice`, async () => {
    const { load } = stage();
    while (expectedPairs(stage(), load.accepted).length < DELIVERIES) await load.burst(AT_ONCE);
    expect(await isSettled(stage(), 120_000)).toBe(true);
    const { verdict } = await verdictOn(stage());
    print(`Without faults on ${store}:\n${summaryOf(verdict)}`);
    expect(load.publications.filter(({ status }) => status !== 202)).toEqual([]);
    expect(verdict).toMatchObject({ ...NOTHING_AMISS, doubled: [], unscripted: [] });
  });
});
