import type { JobUser } from './job-user';
import type { QueueEvent } from './queue-event';

/** Facts about a job that are kept until it ends. The queue may have deleted the job by the time its end is read. */
export interface RememberedJob {
  jobId: string;
  name: string | null;
  user: JobUser;
  attempts: number | null;
  startedAt: Date | null;
}

export interface JobFacts {
  name: string;
  user: JobUser;
  attemptsStarted: number;
  stack: string | null;
}

/** An entry of the stream, with the facts known about its job at that moment. */
export interface Happening {
  event: QueueEvent;
  job: RememberedJob;
  stack: string | null;
}

export interface Recollection {
  happenings: Happening[];
  remembered: RememberedJob[];
  ended: string[];
}

/**
 * Processes entries in the order of the stream and joins each with the known facts about its job. Attempts are counted
 * along the stream, from the job's `added` entry on. For a job that began before the first entry, the count starts with
 * the queue's own count, minus the attempts that follow in these entries. Ids may be reused: the queue's facts describe
 * the newest job with an id, and are not applied to earlier jobs.
 */
export function recollect(
  events: readonly QueueEvent[],
  known: ReadonlyMap<string, RememberedJob>,
  facts: ReadonlyMap<string, JobFacts | null>,
): Recollection {
  const jobs = new Map(known);
  const ended = new Set<string>();
  const newestLife = new Map(events.flatMap(({ kind, jobId }, i) => (kind === 'added' ? [[jobId, i]] : [])));
  const happenings = events.map((event, i) => {
    const { kind, jobId } = event;
    const fact = i >= (newestLife.get(jobId) ?? 0) ? (facts.get(jobId) ?? undefined) : undefined;
    const before = (kind === 'added' ? undefined : jobs.get(jobId)) ?? stranger(events.slice(i), fact);
    const job = advanced(filledIn(before, fact), event);
    jobs.set(jobId, job);
    if (isEnd(kind)) {
      jobs.delete(jobId);
      ended.add(jobId);
    }
    return { event, job, stack: fact?.stack ?? null };
  });
  const touched = new Set(events.map(({ jobId }) => jobId));
  const remembered = [...jobs.values()].filter(({ jobId }) => touched.has(jobId));
  return { happenings, remembered, ended: [...ended].filter((jobId) => !jobs.has(jobId)) };
}

const isEnd = (kind: QueueEvent['kind']): boolean => kind !== 'added' && kind !== 'active';

function stranger([first, ...later]: readonly QueueEvent[], fact: JobFacts | undefined): RememberedJob {
  const jobId = first?.jobId ?? '';
  const isActivation = (event?: QueueEvent): boolean => event?.kind === 'active' && event.jobId === jobId;
  const toCome = [first, ...later].filter(isActivation).length;
  const begun = fact ? Math.max(fact.attemptsStarted - toCome, 0) : null;
  const attempts = first?.kind === 'added' ? 0 : begun;
  return { jobId, name: first?.name ?? null, user: { is: 'unknown', id: null }, attempts, startedAt: null };
}

function filledIn(job: RememberedJob, fact: JobFacts | undefined): RememberedJob {
  if (!fact || job.user.is !== 'unknown') return job;
  return { ...job, name: fact.name, user: fact.user };
}

function advanced(job: RememberedJob, { kind, at }: QueueEvent): RememberedJob {
  if (kind !== 'active') return job;
  return { ...job, attempts: job.attempts === null ? null : job.attempts + 1, startedAt: at };
}
