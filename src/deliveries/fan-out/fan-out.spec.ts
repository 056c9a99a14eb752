import type { MetricsService } from '../../infrastructure/metrics/metrics.service';
import type { FiltersService } from '../../webhooks/filters.service';
import type { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import type { WorkersService } from '../../infrastructure/queue/workers.service';
import type { FanOutQueue, StoredEvent } from '../../events/fan-out.queue';
import type { FirstAttempt } from '../rows/attempt';
import type { DispatchService } from '../sending/dispatch.service';
import type { FanOutRepository, Page, Subscriber } from './fan-out.repository';
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
        traceparent: null,
        ...(i === 0 ? { event: 'e', body } : { event: null }),
      }) as Subscriber,
  );

/** Pages as the repository returns them; each event of the first one is read whole unless there is a second. */
const pagesOf = (page: Subscriber[], isLast: boolean): Map<string, Page> => {
  const pages = new Map<string, Page>();
  for (const one of page)
    pages.set(one.eventId, { subscribers: [...(pages.get(one.eventId)?.subscribers ?? []), one], isLast });
  return pages;
};

describe('The fan-out', () => {
  let service: FanOutService;
  let completed: string[];
  let firsts: FirstAttempt[];
  let deferred: FirstAttempt[];
  let claims: string[][];
  let enqueued: StoredEvent[];
  const held = { inc: jest.fn(), dec: jest.fn() };
  let attempt: jest.Mock<ReturnType<DispatchService['attemptNew']>, [FirstAttempt]>;

  function fanOut(first: Subscriber[] | ((ids: readonly string[]) => Subscriber[]), second?: Subscriber[]): void {
    [completed, firsts, deferred, claims, enqueued] = [[], [], [], [], []];
    attempt = jest.fn<ReturnType<DispatchService['attemptNew']>, [FirstAttempt]>(async () => undefined);
    service = new FanOutService(
      {
        offerTo: () => undefined,
        enqueue: async (events) => void enqueued.push(...events),
      } as Partial<FanOutQueue> as FanOutQueue,
      {
        claim: async (young, old = []) => {
          const ids = [...young, ...old];
          claims.push([...ids]);
          return pagesOf(typeof first === 'function' ? first(ids) : first, !second);
        },
        next: async () => ({ subscribers: second, isLast: true }),
        complete: async (id) => void completed.push(id),
      } as Partial<FanOutRepository> as FanOutRepository,
      {
        attemptNew: (first) => (firsts.push(first), attempt(first)),
        deferNew: async (first) => void deferred.push(first),
      } as Partial<DispatchService> as DispatchService,
      { during: (work) => work() } as Partial<WorkersService> as WorkersService,
      {} as FiltersService,
      { add: () => undefined } as Partial<WorkerTasksService> as WorkerTasksService,
      { level: () => held } as object as MetricsService,
    );
  }
  afterEach(() => service.onApplicationShutdown());

  const fanOutAll = (ids: readonly string[], userId = 'u') =>
    Promise.all(ids.map(async (id) => service.add({ id, userId })));
  const idsOf = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}-${i}`);
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('attempts the deliveries of all pages, each with the fields of the event, and completes the event with the last', async () => {
    fanOut(subscribers(EVENT, ['a', 'b']), subscribers(EVENT, ['c']));
    await fanOutAll([EVENT]);
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
    await fanOutAll([EVENT, OTHER]);
    expect(firsts.map(({ eventId, completesEvent }) => [eventId, completesEvent])).toEqual([[EVENT, true]]);
    expect(completed).toEqual([OTHER]);
  });

  it('completes an event as soon as each delivery has a row, however long the attempts take', async () => {
    fanOut(subscribers(EVENT, ['a', 'b']));
    attempt.mockImplementation(async () => ({ over: new Promise(() => undefined) }));
    await fanOutAll([EVENT]);
    expect(completed).toEqual([EVENT]);
  });

  it('leaves an event to its lease when one of its deliveries has no row', async () => {
    fanOut([...subscribers(EVENT, ['a', 'b']), ...subscribers(OTHER, ['a', 'b'])]);
    attempt.mockRejectedValueOnce(new Error('PostgreSQL is away'));
    await fanOutAll([EVENT, OTHER]);
    expect(completed).toEqual([OTHER]);
  });

  it('defers the deliveries of an event that is too large to hold in memory', async () => {
    fanOut(subscribers(EVENT, ['a', 'b'], null));
    await fanOutAll([EVENT]);
    expect([firsts.length, deferred.length, completed]).toEqual([0, 2, [EVENT]]);
  });

  it('claims one by one the events that cannot be claimed together', async () => {
    fanOut((ids) => {
      if (ids.includes('bad')) throw new Error('cannot be read');
      return ids.flatMap((id) => subscribers(id, ['a', 'b']));
    });
    await fanOutAll([EVENT, 'bad', OTHER]);
    expect(completed).toEqual([EVENT, OTHER]);
  });

  it('holds at most 500 events, and half of them for one user, however many there are', async () => {
    fanOut((ids) => ids.flatMap((id) => subscribers(id, ['a'])));
    held.inc.mockClear();
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    attempt.mockImplementation(() => ended as Promise<undefined>);
    const all = [fanOutAll(idsOf('m', 1200), 'm')];
    for (let i = 0; i < 20; i++) await turn();
    expect(held.inc).toHaveBeenCalledTimes(251);
    for (let user = 0; user < 60; user++) all.push(fanOutAll(idsOf(`${user}`, 20), `${user}`));
    for (let i = 0; i < 20; i++) await turn();
    expect(held.inc.mock.calls.length).toBeGreaterThan(450);
    expect(held.inc.mock.calls.length).toBeLessThanOrEqual(500);
    end();
    await Promise.all(all);
    expect(held.inc).toHaveBeenCalledTimes(2400);
  });

  it('claims the event of another user next, and makes its delivery before most of those of a wide burst', async () => {
    const webhooks = idsOf('w', 100);
    fanOut((ids) => ids.flatMap((id) => subscribers(id, id.startsWith('m') ? webhooks : ['a'])));
    attempt.mockImplementation(() => turn() as Promise<undefined>);
    const all = [fanOutAll(idsOf('m', 200), 'm')];
    for (let i = 0; i < 5; i++) await turn();
    const before = firsts.length;
    all.push(fanOutAll([OTHER], 'b'));
    await Promise.all(all);
    expect(firsts).toHaveLength(20_001);
    expect(firsts.findIndex(({ eventId }) => eventId === OTHER) - before).toBeLessThan(1500);
  });

  it('has no more than 500 deliveries of one user without a row', async () => {
    const webhooks = idsOf('w', 5000);
    fanOut((ids) => ids.flatMap((id) => subscribers(id, webhooks)));
    let [open, most] = [0, 0];
    attempt.mockImplementation(async () => {
      most = Math.max(most, ++open);
      await turn();
      open -= 1;
    });
    await fanOutAll([EVENT, OTHER]);
    expect([firsts.length, most, completed.length]).toEqual([10_000, 500, 2]);
  });

  it('refuses an event of a user who fills half of its places, and no other', async () => {
    fanOut((ids) => ids.flatMap((id) => subscribers(id, ['a'])));
    attempt.mockImplementation(() => new Promise(() => undefined));
    const added = idsOf('m', 12_000).map((id) => service.add({ id, userId: 'm' }) !== null);
    expect(added.filter(Boolean)).toHaveLength(5000);
    expect(service.usersWithEnough).toBeNull();
    expect(service.add({ id: OTHER, userId: 'b' })).not.toBeNull();
  });

  it('leaves waiting events to other workers when it stops, and takes no more', async () => {
    fanOut((ids) => ids.flatMap((id) => subscribers(id, ['a'])));
    attempt.mockImplementation(() => new Promise(() => undefined));
    void fanOutAll(idsOf('m', 400), 'm');
    for (let i = 0; i < 10; i++) await turn();
    service.stop();
    expect(enqueued.map(({ id }) => id)).toEqual(idsOf('m', 400).slice(251));
    expect(() => service.add({ id: OTHER, userId: 'b' })).toThrow('stopping');
  });

  it('begins an event once, even if it is enqueued again in the meantime', async () => {
    fanOut(subscribers(EVENT, ['a', 'b']));
    let end: () => void = () => undefined;
    attempt.mockImplementation(() => new Promise((resolve) => (end = resolve)));
    const first = fanOutAll([EVENT]);
    await turn();
    await fanOutAll([EVENT]);
    expect(firsts).toHaveLength(2);
    attempt.mock.results.forEach(() => end());
    void first;
  });
});
