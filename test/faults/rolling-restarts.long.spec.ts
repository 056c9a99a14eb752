import type { ServiceProcess } from '../support/service-process';
import { type Stage, useStage } from './stage/chaos-stage';
import { isLong } from './stage/form';
import { print, summaryOf } from './stage/report';
import { isSettled, NOTHING_AMISS, subscribeEverybody, verdictOn } from './stage/fault-steps';
import { describeOnStoreNames } from './stage/store-names';

const ROUNDS = isLong ? 10 : 2;
const PER_SECOND = 20;

describeOnStoreNames('Rolling restarts under load', (store) => {
  const stage = useStage(() => ({ store }), subscribeEverybody);

  it(`of the API and two workers, ${ROUNDS} times over, cause no failed request`, async () => {
    const { load } = stage();
    const exitCodes: (number | null)[] = [];
    load.start(PER_SECOND);
    for (let round = 1; round <= ROUNDS; round++) {
      exitCodes.push(await replaceApi(stage(), `api-${round}`));
      for (const worker of stage().workers) exitCodes.push(await restart(worker));
    }
    await load.stop();
    expect(await isSettled(stage())).toBe(true);

    const { verdict } = await verdictOn(stage());
    print(`${ROUNDS} rolling restarts on ${store}:\n${summaryOf(verdict)}, exit codes ${exitCodes.join(' ')}`);
    expect(exitCodes).toEqual(Array.from({ length: 3 * ROUNDS }, () => 0));
    expect(load.publications.filter(({ status }) => status !== 202)).toEqual([]);
    expect(verdict).toMatchObject({ ...NOTHING_AMISS, doubled: [], unscripted: [] });
  });
});

/** As behind a load balancer: the new one is ready before the old one is told to end. */
async function replaceApi(stage: Stage, name: string): Promise<number | null> {
  const old = stage.api;
  stage.api = await stage.process(name, { ROLE: 'api' });
  await stage.api.start();
  stage.door.retarget(stage.api.port);
  return (await old.end()).exitCode;
}

async function restart(worker: ServiceProcess): Promise<number | null> {
  const { exitCode } = await worker.end();
  await worker.start();
  return exitCode;
}
