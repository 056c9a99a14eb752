import fc from 'fast-check';
import { type JobFacts, recollect, type RememberedJob } from './job-memory';
import type { QueueEvent } from './queue-event';

const START = Date.parse('2026-01-15T09:30:00.000Z');
const none = { is: 'none', id: null } as const;
const alice = { is: 'named', id: 'alice' } as const;
const unknown = { is: 'unknown', id: null } as const;

/** `added a`, `active a` … in the order of the stream, one second apart. */
function eventsOf(...texts: string[]): QueueEvent[] {
  return texts.map((text, i) => {
    const [kind, jobId = ''] = text.split(' ') as [QueueEvent['kind'], string];
    return { id: `${i + 1}-0`, at: timeOf(i), kind, jobId, name: null, result: null, failedReason: '' };
  });
}

const timeOf = (i: number) => new Date(START + i * 1000);
const facts = (attemptsStarted: number, more: Partial<JobFacts> = {}): JobFacts => ({
  name: 'export',
  user: none,
  attemptsStarted,
  stack: null,
  ...more,
});
const attemptsIn = (...args: Parameters<typeof recollect>) =>
  recollect(...args).happenings.map(({ job }) => job.attempts);

describe('recollect', () => {
  it('counts the attempts of a job from its added entry on', () => {
    const events = eventsOf('added a', 'active a', 'added b', 'active a', 'active b', 'completed a');
    expect(attemptsIn(events, new Map(), new Map())).toEqual([0, 1, 0, 2, 1, 2]);
  });

  it('returns the same for any division of the stream into pages', () => {
    const texts = ['added a', 'active a', 'added b', 'active a', 'failed a', 'active a', 'active b', 'completed a'];
    const known = new Map([
      ['a', facts(3)],
      ['b', facts(1)],
    ]);
    const whole = recollect(eventsOf(...texts), new Map(), known).happenings;
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: texts.length - 1 })), (cuts) => {
        let memory = new Map<string, RememberedJob>();
        const happenings = [0, ...cuts.sort((x, y) => x - y)].flatMap((from, i, all) => {
          const page = eventsOf(...texts).slice(from, all[i + 1]);
          // The third attempt had not begun when earlier pages were read.
          const now = page.some(({ id }) => id === '6-0') ? known : new Map([...known, ['a', facts(2)]]);
          const found = recollect(page, memory, now);
          memory = new Map([...memory, ...found.remembered.map((job) => [job.jobId, job] as const)]);
          for (const jobId of found.ended) memory.delete(jobId);
          return found.happenings;
        });
        expect(happenings.map(({ job }) => job)).toEqual(whole.map(({ job }) => job));
      }),
    );
  });

  it("starts with the queue's own count for a job that began before the first entry", () => {
    expect(attemptsIn(eventsOf('active a', 'active a'), new Map(), new Map([['a', facts(7)]]))).toEqual([6, 7]);
    expect(attemptsIn(eventsOf('completed a'), new Map(), new Map([['a', facts(7)]]))).toEqual([7]);
    expect(attemptsIn(eventsOf('active a'), new Map(), new Map([['a', facts(0)]]))).toEqual([1]);
  });

  it('knows nothing of a deleted job that began before the first entry', () => {
    const [happening] = recollect(eventsOf('completed a'), new Map(), new Map()).happenings;
    expect(happening?.job).toEqual({ jobId: 'a', name: null, user: unknown, attempts: null, startedAt: null });
  });

  it('knows at least the name of a deleted job whose added entry was read', () => {
    const [added, completed] = eventsOf('added a', 'completed a') as [QueueEvent, QueueEvent];
    const { happenings } = recollect([{ ...added, name: 'export' }, completed], new Map(), new Map());
    expect(happenings[1]?.job).toMatchObject({ name: 'export', user: unknown, attempts: 0 });
  });

  it('keeps the last start of a job, by the clock of the stream', () => {
    const { happenings } = recollect(eventsOf('added a', 'active a', 'active a', 'failed a'), new Map(), new Map());
    expect(happenings.map(({ job }) => job.startedAt)).toEqual([null, timeOf(1), timeOf(2), timeOf(2)]);
  });

  it('keeps a job that its queue has deleted', () => {
    const first = recollect(eventsOf('added a'), new Map(), new Map([['a', facts(0, { user: alice })]]));
    expect(first.remembered).toEqual([{ jobId: 'a', name: 'export', user: alice, attempts: 0, startedAt: null }]);
    const memory = new Map(first.remembered.map((job) => [job.jobId, job]));
    const second = recollect(eventsOf('active a', 'completed a'), memory, new Map());
    expect(second.happenings[1]?.job).toMatchObject({ name: 'export', user: alice, attempts: 1 });
    expect([second.remembered, second.ended]).toEqual([[], ['a']]);
  });

  it('does not confuse a job with a later one of the same id', () => {
    const events = eventsOf('added a', 'active a', 'completed a', 'added a', 'active a');
    const { happenings, remembered, ended } = recollect(events, new Map(), new Map([['a', facts(1, { user: alice })]]));
    expect(happenings.map(({ job }) => job.user.is)).toEqual(['unknown', 'unknown', 'unknown', 'named', 'named']);
    expect(happenings.map(({ job }) => job.attempts)).toEqual([0, 1, 1, 0, 1]);
    expect(remembered.map(({ user }) => user)).toEqual([alice]);
    expect(ended).toEqual([]);
  });

  it('drops a removed job', () => {
    const memory = new Map([['a', { jobId: 'a', name: 'x', user: none, attempts: 1, startedAt: null }]]);
    expect(recollect(eventsOf('removed a'), memory, new Map())).toMatchObject({ remembered: [], ended: ['a'] });
  });

  it('passes on the newest stack trace', () => {
    const known = new Map([['a', facts(1, { stack: 'TypeError: no' })]]);
    expect(recollect(eventsOf('failed a'), new Map(), known).happenings[0]?.stack).toBe('TypeError: no');
  });
});
