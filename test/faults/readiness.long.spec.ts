import type { ServiceProcess } from '../support/service-process';
import { type Stage, useStage } from './stage/chaos-stage';
import { waitFor } from '../support/wait-for';
import { describeOnStoreNames } from './stage/store-names';

/** A sweeper may fail for 15 s before it counts. */
const TOLD_WITHIN_MS = 25_000;

const unwell = async (process: ServiceProcess): Promise<string[]> => {
  const { status, checks } = await process.ready();
  const names = Object.keys(checks).filter((name) => checks[name] !== 'well');
  expect(status).toBe(names.length === 0 ? 200 : 503);
  return names.sort();
};

/** Waits until exactly these parts are not well in the eyes of the process, which lives throughout. */
async function tells(process: ServiceProcess, names: string[]): Promise<void> {
  const told = async () => {
    expect(await process.lives()).toBe(true);
    expect(await unwell(process)).toEqual(names);
    return true;
  };
  const what = `${process.name} to call ${names.join(', ') || 'nothing'} unwell`;
  // eslint-disable-next-line no-restricted-syntax -- the sweeper may fail for 15 s
  await waitFor(told, { what, timeoutMs: TOLD_WITHIN_MS, everyMs: 100 });
}

describeOnStoreNames('Readiness', (store) => {
  const stage = useStage(
    () => ({ store, workers: 1 }),
    async () => undefined,
  );
  const processes = ({ api, workers }: Stage) => [api, ...workers];
  const allTell = (names: string[]) => Promise.all(processes(stage()).map((process) => tells(process, names)));

  afterEach(() => stage().repair());

  it('names nothing while all is well', () => allTell([]));

  it('names PostgreSQL while it is down', async () => {
    await stage().postgres.end('SIGINT');
    await allTell(store === 'Redis' ? ['postgres'] : ['postgres', 'queue']);
    await stage().postgres.comeBack();
    await allTell([]);
  });

  if (store === 'Redis') {
    it('names the queue while Redis is down', async () => {
      await stage().redis!.kill();
      await allTell(['queue']);
      await stage().redis!.comeBack('empty');
      await allTell([]);
    });
  } else {
    // It takes its time, and is the same on both stores.
    it('names the sweeper of a worker that cannot sweep', async () => {
      const unlock = await stage().postgres.lock('webhook_service.deliveries', 'share row exclusive');
      try {
        await tells(stage().workers[0]!, ['sweeper']);
        await tells(stage().api, []);
      } finally {
        await unlock();
      }
      await allTell([]);
    });
  }
});
