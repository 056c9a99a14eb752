import type { EventName, EventPayloads } from 'webhook-notification';
import type { Happening } from './job-memory';

export type JobEvent = {
  [Name in EventName]: { name: Name; data: EventPayloads[Name] };
}[EventName];

const MAX_MESSAGE_LENGTH = 2000;
/** A stack trace begins with the error's name, as in `TypeError: what happened`. */
const ERROR_NAME = /^([A-Za-z_$][\w$.]{0,99}): /;

/**
 * Returns the events of one entry of a queue's stream. Their times come from the stream: when the attempt began and
 * when it ended, by the clock of the queue's store. Unknown values are null.
 */
export function jobEventsOf(queue: { name: string; isAutomation: boolean }, happening: Happening): JobEvent[] {
  const { event, job, stack } = happening;
  if (event.kind === 'active') return [jobStarted(queue.name, happening)];
  if (event.kind !== 'completed' && event.kind !== 'failed') return [];
  const operation = {
    operationId: event.jobId,
    type: job.name,
    startedAt: job.startedAt?.toISOString() ?? null,
    finishedAt: event.at.toISOString(),
    durationMs: durationMs(happening),
  };
  if (event.kind === 'failed') {
    const error = { name: errorName(stack), message: shortened(event.failedReason) };
    return queue.isAutomation
      ? [{ name: 'operation.failed', data: { ...operation, attempts: job.attempts, error } }]
      : [];
  }
  const complete: JobEvent = { name: 'operation.complete', data: { ...operation, result: event.result } };
  return [jobCompleted(queue.name, happening), ...(queue.isAutomation ? [complete] : [])];
}

/** Returns the event without its result, if it had one that an event cannot carry; otherwise null. */
export function withoutResult(event: JobEvent): JobEvent | null {
  if (event.name !== 'job.completed' && event.name !== 'operation.complete') return null;
  return { ...event, data: { ...event.data, result: null, resultOmitted: true } } as JobEvent;
}

function jobStarted(queue: string, { event, job }: Happening): JobEvent {
  const { name, attempts: attempt } = job;
  return { name: 'job.started', data: { jobId: event.jobId, queue, name, attempt, startedAt: event.at.toISOString() } };
}

function jobCompleted(queue: string, happening: Happening): JobEvent {
  const { event, job } = happening;
  const data = {
    jobId: event.jobId,
    queue,
    name: job.name,
    attempts: job.attempts,
    startedAt: job.startedAt?.toISOString() ?? null,
    completedAt: event.at.toISOString(),
    durationMs: durationMs(happening),
    result: event.result,
  };
  return { name: 'job.completed', data };
}

const durationMs = ({ event, job }: Happening): number | null =>
  job.startedAt && Math.max(event.at.getTime() - job.startedAt.getTime(), 0);

const errorName = (stack: string | null): string => ERROR_NAME.exec(stack ?? '')?.[1] ?? 'Error';

function shortened(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  // Do not split a surrogate pair.
  return `${message.slice(0, MAX_MESSAGE_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
