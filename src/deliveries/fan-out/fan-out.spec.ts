import type { MetricsService } from '../../infrastructure/metrics/metrics.service';
import type { FiltersService } from '../../webhooks/filters.service';
import type { WorkersService } from '../../infrastructure/queue/workers.service';
import type { FirstAttempt } from '../rows/attempt';
import type { DispatchService } from '../sending/dispatch.service';
import type { FanOutRepository, Subscriber } from './fan-out.repository';
import { FanOutService } from './fan-out.service';

const EVENT = '0198c0de-0000-7000-8000-000000000000';
const OTHER = '0198c0de-0000-7000-8000-000000000001';

/** The rows that a claim returns for one event; the first carries the fields of the event. */
const subscribers = (eventId: string, webhooks: readonly string[], body: string | null = '{}') =>
  (webhooks.length > 0 ? webhooks : [null]).map(
    (webhookId, i) =>
      ({
        eventId,
        webhookId,
        url: 'u',
        filterHash: null,
        ...(i === 0 ? { event: 'e', body } : { event: null }),
      }) as Subscriber,
  );

describe('The fan-out', () => {
  let service: FanOutService;
  let completed: string[];
  let firsts: FirstAttempt[];
  let deferred: FirstAttempt[];
  const held = { inc: jest.fn(), dec: jest.fn() };
  let attempt: jest.Mock<ReturnType<DispatchService['attemptNew']>, [FirstAttempt]>;

  function fanOut(...pages: Subscriber[][]): void {
    [completed, firsts, deferred] = [[], [], []];
    attempt = jest.fn<ReturnType<DispatchService['attemptNew']>, [FirstAttempt]>(async () => undefined);
    service = new FanOutService(
      {
        claim: async function* () {
          for (const [i, page] of pages.entries()) yield { page, isLast: i === pages.length - 1 };
        },
        complete: async (id) => void completed.push(id),
      } as Partial<FanOutRepository> as FanOutRepository,
      {
        attemptNew: (first) => (firsts.push(first), attempt(first)),
        deferNew: async (first) => void deferred.push(first),
      } as Partial<DispatchService> as DispatchService,
      { during: (work) => work() } as Partial<WorkersService> as WorkersService,
      {} as FiltersService,
      { level: () => held } as object as MetricsService,
    );
  }
  afterEach(() => service.onApplicationShutdown());

  it('attempts the deliveries of all pages, each with the fields of the event, and completes the event with the last', async () => {
    fanOut(subscribers(EVENT, ['a', 'b']), subscribers(EVENT, ['c']));
    await service.fanOutAll([EVENT]);
    expect(
      firsts.map(({ webhookId, event, body, completesEvent }) => [webhookId, event, body, completesEvent]),
    ).toEqual([
      ['a', 'e', '{}', false],
      ['b', 'e', '{}', false],
      ['c', 'e', '{}', false],
    ]);
    expect(new Set(firsts.map(({ id }) => id)).size).toBe(3);
    expect(completed).toEqual([EVENT]);
  });

  it('lets the only delivery of an event complete it, and completes an event without deliveries', async () => {
    fanOut([...subscribers(EVENT, ['a']), ...subscribers(OTHER, [])]);
    await service.fanOutAll([EVENT, OTHER]);
    expect(firsts.map(({ eventId, completesEvent }) => [eventId, completesEvent])).toEqual([[EVENT, true]]);
    expect(completed).toEqual([OTHER]);
  });

  it('does not mistake the last delivery of a full page for the only one', async () => {
    fanOut(subscribers(EVENT, ['a']), subscribers(EVENT, ['b']));
    await service.fanOutAll([EVENT]);
    expect(firsts.map(({ completesEvent }) => completesEvent)).toEqual([false, false]);
    expect(completed).toEqual([EVENT]);
  });

  it('completes an event as soon as each delivery has a row, however long the attempts take', async () => {
    fanOut(subscribers(EVENT, ['a', 'b']));
    attempt.mockImplementation(async () => ({ over: new Promise(() => undefined) }));
    await service.fanOutAll([EVENT]);
    expect(completed).toEqual([EVENT]);
  });

  it('leaves an event to its lease when one of its deliveries has no row', async () => {
    fanOut([...subscribers(EVENT, ['a', 'b']), ...subscribers(OTHER, ['a', 'b'])]);
    attempt.mockRejectedValueOnce(new Error('PostgreSQL is away'));
    await service.fanOutAll([EVENT, OTHER]);
    expect(completed).toEqual([OTHER]);
  });

  it('defers the deliveries of an event that is too large to hold in memory', async () => {
    fanOut(subscribers(EVENT, ['a', 'b'], null));
    await service.fanOutAll([EVENT]);
    expect([firsts.length, deferred.length, completed]).toEqual([0, 2, [EVENT]]);
  });

  it('holds at most 500 events, however many the jobs contain', async () => {
    fanOut(subscribers(EVENT, []));
    held.inc.mockClear();
    const jobs = Array.from({ length: 12 }, (_, job) => Array.from({ length: 100 }, (_, i) => `${job}-${i}`));
    const all = jobs.map((ids) => service.fanOutAll(ids));
    expect(held.inc).toHaveBeenCalledTimes(500);
    await Promise.all(all);
    expect(held.inc).toHaveBeenCalledTimes(1200);
  });

  it('begins an event once, even if it is enqueued again in the meantime', async () => {
    fanOut(subscribers(EVENT, ['a', 'b']));
    let end: () => void = () => undefined;
    attempt.mockImplementation(() => new Promise((resolve) => (end = resolve)));
    const first = service.fanOutAll([EVENT]);
    await new Promise((resolve) => setImmediate(resolve));
    await service.fanOutAll([EVENT]);
    expect(firsts).toHaveLength(2);
    attempt.mock.results.forEach(() => end());
    void first;
  });
});
