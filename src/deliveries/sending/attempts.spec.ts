import type { Config } from '../../infrastructure/config/config';
import type { MetricsService } from '../../infrastructure/metrics/metrics.service';
import type { RollUpService } from '../../webhooks/stats/roll-up.service';
import type { ClaimedDelivery, FirstAttempt, Outcome } from '../rows/attempt';
import type { ClaimsRepository } from '../rows/claims.repository';
import type { OutcomesRepository } from '../rows/outcomes.repository';
import type { WaitingRowsRepository } from '../rows/waiting-rows.repository';
import type { SendQueue } from '../send.queue';
import type { BacklogService } from '../slots/backlog.service';
import type { SlotsService } from '../slots/slots.service';
import type { AttemptReportsService } from './attempt-reports.service';
import { AttemptsService } from './attempts.service';
import type { AutoDisableService } from './auto-disable.service';
import { OutcomesService } from './outcomes.service';
import type { SenderService } from './sender.service';

const CONCURRENCY = 2;
const SUCCESS = { status: 'succeeded', exchange: { durationMs: 5 }, error: null, finalStatus: null } as Outcome;

const settled = async () => new Promise((resolve) => setImmediate(resolve));
const due = (id: string) => ({ id, trigger: 'event' }) as ClaimedDelivery;

const services: AttemptsService[] = [];
afterEach(() => services.splice(0).forEach((service) => service.onApplicationShutdown()));

function attempts(rows: Partial<OutcomesRepository>, send: SenderService['send'] = async () => SUCCESS) {
  const [release, end] = [jest.fn(), jest.fn()];
  const metrics = { level: () => ({ inc: () => undefined, dec: end }) } as object as MetricsService;
  const service = new AttemptsService(
    { deliveryConcurrency: CONCURRENCY } as Config,
    { release } as Partial<SlotsService> as SlotsService,
    { send } as Partial<SenderService> as SenderService,
    new OutcomesService(
      rows as OutcomesRepository,
      {} as WaitingRowsRepository,
      {} as SendQueue,
      { note: jest.fn() } as Partial<RollUpService> as RollUpService,
      { report: jest.fn() } as Partial<AttemptReportsService> as AttemptReportsService,
      {} as AutoDisableService,
    ),
    {} as BacklogService,
    {} as ClaimsRepository,
    metrics,
  );
  services.push(service);
  return { service, release, end, speeds: () => release.mock.calls.map(([{ id }, speed]) => [id, speed]) };
}

describe('The slot of an attempt', () => {
  it('is released as soon as its request has ended, before the outcome is written', async () => {
    const { service, speeds, end } = attempts({ update: () => new Promise(() => undefined) });
    void service.make(due('one'));
    await settled();
    expect(speeds()).toEqual([['one', 'fast']]);
    expect(end).not.toHaveBeenCalled();
  });

  it('is held while the outcome buffer is full', async () => {
    let write: () => void = () => undefined;
    const written = new Promise<null>((resolve) => (write = () => resolve(null)));
    const { service, speeds } = attempts({ update: () => written });
    for (const id of ['one', 'two', 'three']) void service.make(due(id));
    await settled();
    expect(speeds().map(([id]) => id)).toEqual(['one', 'two']);
    write();
    await settled();
    expect(speeds().map(([id]) => id)).toEqual(['one', 'two', 'three']);
  });

  it('is released when nothing is sent because the attempt is already in progress', async () => {
    const { service, speeds, end } = attempts({}, () => new Promise(() => undefined));
    void service.make(due('under way'));
    await expect(service.make(due('under way'))).resolves.toBeUndefined();
    expect(speeds()).toEqual([['under way', null]]);
    expect(end).not.toHaveBeenCalled();
  });

  it('is released when sending fails with an internal error', async () => {
    const { service, speeds, end } = attempts({}, () => Promise.reject(new Error('an error')));
    await expect(service.make(due('one'))).rejects.toThrow('an error');
    expect(speeds()).toEqual([['one', null]]);
    expect(end).toHaveBeenCalledTimes(1);
  });

  it('is not released by a test, which holds none', async () => {
    const { service, release } = attempts({ update: async () => null });
    await service.make({ ...due('one'), trigger: 'test' });
    expect(release).not.toHaveBeenCalled();
  });
});

describe('A first attempt', () => {
  const first = { id: 'first', trigger: 'event', attempt: 1 } as FirstAttempt;
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] }));
  afterEach(() => jest.useRealTimers());

  it('has a row when it is over: with its outcome', async () => {
    const insert = jest.fn().mockResolvedValue({ nextId: null });
    const { service } = attempts({ insert });
    await service.makeFirst(first);
    expect(insert.mock.calls).toEqual([[{ first, outcome: SUCCESS, deferred: false }]]);
  });

  it('has a pending row after a second, which gets the outcome', async () => {
    let respond: (outcome: Outcome) => void = () => undefined;
    const sending = new Promise<Outcome>((resolve) => (respond = resolve));
    const insert = jest.fn().mockResolvedValue({ nextId: null });
    const update = jest.fn().mockResolvedValue({ nextId: null });
    const { service } = attempts({ insert, update }, () => sending);
    const begun = service.makeFirst(first);
    await jest.advanceTimersByTimeAsync(1000);
    const { over } = (await begun) ?? {};
    expect(insert.mock.calls).toEqual([[{ first, outcome: null, deferred: false }]]);
    expect(update).not.toHaveBeenCalled();
    respond(SUCCESS);
    await over;
    expect(update.mock.calls).toEqual([[SUCCESS]]);
  });
});
