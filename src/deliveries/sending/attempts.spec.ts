import type { Config } from '../../plumbing/config/config';
import type { AttemptReportsService } from './attempt-reports.service';
import { AttemptsService } from './attempts.service';
import type { DeliveriesRepository } from '../deliveries.repository';
import type { ClaimedDelivery } from '../attempt';
import type { AutoDisableService } from './auto-disable.service';
import type { FirstRowsRepository } from './first-rows.repository';
import { OutcomesService } from './outcomes.service';
import type { SendQueue } from '../send.queue';
import type { RollUpService } from '../../webhooks/stats/roll-up.service';
import type { SenderService } from './sender.service';

const CONCURRENCY = 2;
const SENT = { exchange: { durationMs: 5 }, result: { kind: 'response', status: 200 } };

describe('The slot of an attempt', () => {
  function attempts(record: DeliveriesRepository['record'], send = jest.fn().mockResolvedValue(SENT)) {
    return new AttemptsService(
      { deliveryConcurrency: CONCURRENCY } as Config,
      { send } as Partial<SenderService> as SenderService,
      {
        begin: (id) => id !== 'under way',
        end: jest.fn(),
        report: jest.fn(),
      } as Partial<AttemptReportsService> as AttemptReportsService,
      new OutcomesService(
        { record } as Partial<DeliveriesRepository> as DeliveriesRepository,
        {} as FirstRowsRepository,
        {} as SendQueue,
        { note: jest.fn() } as Partial<RollUpService> as RollUpService,
      ),
      {} as AutoDisableService,
    );
  }

  const due = (id: string) => ({ id, trigger: 'event', webhook: { active: true } }) as ClaimedDelivery;
  const settled = async () => new Promise((resolve) => setImmediate(resolve));

  it('is free as soon as its request has ended, before the outcome is written', async () => {
    const service = attempts(() => new Promise(() => undefined));
    const whenEnded = jest.fn();
    void service.make(due('one'), whenEnded);
    await settled();
    expect(whenEnded.mock.calls).toEqual([['fast']]);
  });

  it('is kept while as many outcomes as there are slots wait to be written', async () => {
    let write: () => void = () => undefined;
    const written = new Promise<void>((resolve) => (write = resolve));
    const service = attempts(async () => written.then(() => new Map()));
    const whenEnded = ['one', 'two', 'three'].map((id) => {
      const listener = jest.fn();
      void service.make(due(id), listener);
      return listener;
    });
    await settled();
    expect(whenEnded.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 0]);
    write();
    await settled();
    expect(whenEnded.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
  });

  it('is free when nothing is sent, because the attempt is under way already', async () => {
    const whenEnded = jest.fn();
    await expect(attempts(jest.fn()).make(due('under way'), whenEnded)).resolves.toBeUndefined();
    expect(whenEnded.mock.calls).toEqual([[null]]);
  });

  it('is free when sending fails for a fault of this process', async () => {
    const whenEnded = jest.fn();
    const service = attempts(jest.fn(), jest.fn().mockRejectedValue(new Error('a fault')));
    await expect(service.make(due('one'), whenEnded)).rejects.toThrow('a fault');
    expect(whenEnded.mock.calls).toEqual([[null]]);
  });
});
