import { EventCatalogue } from 'webhook-notification/catalogue';
import { type JobEvent, jobEventsOf, withoutResult } from './job-events';
import type { Happening } from './job-memory';
import type { QueueEvent } from './queue-event';

const startedAt = new Date('2026-01-15T09:29:58.200Z');
const at = new Date('2026-01-15T09:30:00.000Z');
const queue = { name: 'reports', isAutomation: true };

function happening(event: Partial<QueueEvent>, job: Partial<Happening['job']> = {}, stack: string | null = null) {
  return {
    event: { id: '1-0', at, kind: 'completed', jobId: '7', name: null, result: null, failedReason: '', ...event },
    job: { jobId: '7', name: 'export', user: { is: 'none', id: null }, attempts: 2, startedAt, ...job },
    stack,
  } satisfies Happening;
}

const GONE = { name: null, attempts: null, startedAt: null };
const named = (events: JobEvent[]) => Object.fromEntries(events.map(({ name, data }) => [name, data]));

describe('jobEventsOf', () => {
  it('returns job.started for a job that began', () => {
    expect(named(jobEventsOf(queue, happening({ kind: 'active' })))).toEqual({
      'job.started': { jobId: '7', queue: 'reports', name: 'export', attempt: 2, startedAt: at.toISOString() },
    });
  });

  it('returns job.completed and operation.complete for a completed job', () => {
    const times = { startedAt: startedAt.toISOString(), durationMs: 1800 };
    const result = { rows: 1 };
    expect(named(jobEventsOf(queue, happening({ result })))).toEqual({
      'job.completed': {
        jobId: '7',
        queue: 'reports',
        name: 'export',
        attempts: 2,
        ...times,
        completedAt: at.toISOString(),
        result,
      },
      'operation.complete': { operationId: '7', type: 'export', ...times, finishedAt: at.toISOString(), result },
    });
  });

  it('returns operation.failed for a failed job', () => {
    const failed = happening({ kind: 'failed', failedReason: 'no' }, {}, 'RangeError: no\n    at work');
    expect(named(jobEventsOf(queue, failed))).toMatchObject({
      'operation.failed': {
        operationId: '7',
        type: 'export',
        attempts: 2,
        error: { name: 'RangeError', message: 'no' },
      },
    });
  });

  it.each(['added', 'removed'] as const)('returns nothing for a job that was %s', (kind) => {
    expect(jobEventsOf(queue, happening({ kind }))).toEqual([]);
  });

  it('returns events about operations only for automation queues', () => {
    const plain = { ...queue, isAutomation: false };
    expect(jobEventsOf(plain, happening({ kind: 'failed' }))).toEqual([]);
    expect(jobEventsOf(plain, happening({})).map(({ name }) => name)).toEqual(['job.completed']);
  });

  it.each(['active', 'completed', 'failed'] as const)('returns valid events for an unknown job that was %s', (kind) => {
    const catalogue = new EventCatalogue({ extraEventTypes: [], eventMaxBytes: 1024 });
    const events = jobEventsOf(queue, happening({ kind }, GONE));
    expect(events.flatMap(({ name, data }) => catalogue.errorsOf(name, data))).toEqual([]);
    expect(events.length).toBeGreaterThan(0);
  });

  it('returns no negative duration despite clock skew', () => {
    const events = named(jobEventsOf(queue, happening({}, { startedAt: new Date(at.getTime() + 5) })));
    expect(events['job.completed']).toMatchObject({ durationMs: 0 });
  });

  it.each([
    [null, 'Error'],
    ['', 'Error'],
    ['no colon', 'Error'],
    ['two words: no', 'Error'],
    ['My.Own$Error: no\n at', 'My.Own$Error'],
  ])('reads from the stack trace %j the error name %j', (stack, name) => {
    const [event] = jobEventsOf(queue, happening({ kind: 'failed' }, {}, stack));
    expect(event?.data).toMatchObject({ error: { name } });
  });

  it.each([
    ['x'.repeat(2000), 'x'.repeat(2000)],
    ['x'.repeat(2001), `${'x'.repeat(1999)}…`],
    [`${'x'.repeat(1998)}😀😀`, `${'x'.repeat(1998)}…`],
  ])('shortens long messages between characters', (failedReason, message) => {
    const [event] = jobEventsOf(queue, happening({ kind: 'failed', failedReason }));
    expect(event?.data).toMatchObject({ error: { message } });
  });
});

describe('withoutResult', () => {
  it('marks the result as omitted', () => {
    const events = jobEventsOf(queue, happening({ result: 'large' })).map(withoutResult);
    expect(events.map((event) => event?.data)).toMatchObject([
      { jobId: '7', result: null, resultOmitted: true },
      { operationId: '7', result: null, resultOmitted: true },
    ]);
  });

  it('returns null for an event that has no result', () => {
    const [started] = jobEventsOf(queue, happening({ kind: 'active' }));
    expect(withoutResult(started as JobEvent)).toBeNull();
  });
});
