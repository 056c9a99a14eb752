import type { Config } from '../../infrastructure/config/config';
import type { AttemptReportsService } from './attempt-reports.service';
import { AttemptsService } from './attempts.service';
import type { ClaimedDelivery } from '../attempt';
import type { AutoDisableService } from './auto-disable.service';
import type { LeasesService } from './leases.service';
import type { OutcomesRepository } from './outcomes.repository';
import { OutcomesService } from './outcomes.service';
import type { SendQueue } from '../send.queue';
import type { RollUpService } from '../../webhooks/stats/roll-up.service';
import type { BacklogService } from '../slots/backlog.service';
import type { SenderService } from './sender.service';

const CONCURRENCY = 2;
const SENT = { exchange: { durationMs: 5 }, result: { kind: 'response', status: 200 } };

describe('The slot of an attempt', () => {
  function attempts(update: OutcomesRepository['update'], send = jest.fn().mockResolvedValue(SENT)) {
    return new AttemptsService(
      { deliveryConcurrency: CONCURRENCY } as Config,
      { begin: (id) => id !== 'under way', end: jest.fn() } as Partial<LeasesService> as LeasesService,
      { send } as Partial<SenderService> as SenderService,
      {
        begin: jest.fn(),
        end: jest.fn(),
        report: jest.fn(),
      } as Partial<AttemptReportsService> as AttemptReportsService,
      new OutcomesService(
        { update } as Partial<OutcomesRepository> as OutcomesRepository,
        {} as SendQueue,
        { note: jest.fn() } as Partial<RollUpService> as RollUpService,
      ),
      {} as BacklogService,
      {} as AutoDisableService,
    );
  }

  const due = (id: string) =>
    ({ id, trigger: 'event', traceparent: null, webhook: { active: true } }) as ClaimedDelivery;
  const settled = async () => new Promise((resolve) => setImmediate(resolve));

  it('is released as soon as its request has ended, before the outcome is written', async () => {
    const service = attempts(() => new Promise(() => undefined));
    const whenEnded = jest.fn();
    void service.make(due('one'), whenEnded);
    await settled();
    expect(whenEnded.mock.calls).toEqual([['fast']]);
  });

  it('is held while the outcome buffer is full', async () => {
    let write: () => void = () => undefined;
    const written = new Promise<void>((resolve) => (write = resolve));
    const service = attempts(async () => written.then(() => null));
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

  it('is released when nothing is sent because the attempt is already in progress', async () => {
    const whenEnded = jest.fn();
    await expect(attempts(jest.fn()).make(due('under way'), whenEnded)).resolves.toBeUndefined();
    expect(whenEnded.mock.calls).toEqual([[null]]);
  });

  it('is released when sending fails with an internal error', async () => {
    const whenEnded = jest.fn();
    const service = attempts(jest.fn(), jest.fn().mockRejectedValue(new Error('an error')));
    await expect(service.make(due('one'), whenEnded)).rejects.toThrow('an error');
    expect(whenEnded.mock.calls).toEqual([[null]]);
  });
});
