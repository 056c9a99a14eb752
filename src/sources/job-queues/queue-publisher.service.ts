import { Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { DataSource, type EntityManager } from 'typeorm';
import { Config } from '../../infrastructure/config/config';
import type { MonitoredQueue } from '../../infrastructure/config/queue-name';
import { ApiError } from '../../infrastructure/errors/api-error';
import { MetricsService } from '../../infrastructure/metrics/metrics.service';
import { EventsService } from '../../events/events.service';
import { RepeatFilter } from '../../infrastructure/queue/repeat-filter';
import { type JobEvent, jobEventsOf, withoutResult } from './job-events';
import { type Happening, recollect } from './job-memory';
import { jobAudienceOf } from './job-user';
import { QueueJobsRepository } from './queue-jobs.repository';
import { type Held, QueuePositionsRepository } from './queue-positions.repository';
import type { QueueEvent } from './queue-event';
import type { StreamPage, QueueStream } from './queue-stream';

export interface PageReading {
  queue: MonitoredQueue;
  stream: QueueStream;
  holder: string;
  held: Held;
  page: StreamPage;
}

/** Another process has taken over the queue and publishes the events that this process was about to publish. */
export class QueueTakenOverError extends Error {}

/** The status for an idempotency key that has already published something else, and for a user who is being erased. */
const CONFLICT = 409;
/** Maximum length of a job's id in the log. The id may have any length. */
const MAX_LOGGED_ID = 128;

@Injectable()
export class QueuePublisherService {
  private readonly logger = new Logger(QueuePublisherService.name);
  private readonly logged = new RepeatFilter();
  private readonly dropped: Counter;

  constructor(
    private readonly config: Config,
    private readonly events: EventsService,
    private readonly positions: QueuePositionsRepository,
    private readonly jobs: QueueJobsRepository,
    private readonly dataSource: DataSource,
    metrics: MetricsService,
  ) {
    this.dropped = metrics.counter(
      'webhooks_queue_events_dropped_total',
      'Events of monitored queues that were dropped because their user is being erased.',
    );
  }

  /** Publishes the events of a page and stores the new position, in one transaction. Returns where to continue. */
  async publish(reading: PageReading): Promise<Held> {
    const { queue, stream, holder, held, page } = reading;
    const [known, facts] = await this.knowledgeOf(page.events, stream);
    const noJobs = new Set([...facts].flatMap(([jobId, fact]) => (fact || known.has(jobId) ? [] : [jobId])));
    for (const jobId of noJobs) this.warnOfNoJob(jobId, stream.key);
    const events = page.events.filter(({ jobId }) => !noJobs.has(jobId));
    const { happenings, remembered, ended } = recollect(events, known, facts);
    const namesUsers = held.namesUsers || happenings.some(({ job }) => ['named', 'unusable'].includes(job.user.is));

    await this.dataSource.transaction(async (manager) => {
      const advance = { queue: stream.key, holder, from: held.cursor, to: page.next, namesUsers };
      if (!(await this.positions.advance(advance, manager))) throw new QueueTakenOverError();
      for (const happening of happenings) {
        for (const event of jobEventsOf(queue, happening))
          await this.publishOne(event, { happening, namesUsers, queueKey: stream.key, manager });
      }
      await this.jobs.remember(stream.key, remembered, manager);
      await this.jobs.forget(stream.key, ended, manager);
    });
    return { cursor: page.next, namesUsers };
  }

  /** Reads new jobs first and at once, because quick jobs are soon deleted. */
  private async knowledgeOf(events: readonly QueueEvent[], stream: QueueStream) {
    const idsOf = (...kinds: QueueEvent['kind'][]) =>
      new Set(events.filter(({ kind }) => kinds.includes(kind)).map(({ jobId }) => jobId));
    const [all, added, failed] = [new Set(events.map(({ jobId }) => jobId)), idsOf('added'), idsOf('failed')];
    const [known, facts] = await Promise.all([this.jobs.recall(stream.key, [...all]), stream.facts([...added])]);
    const isUnknown = (jobId: string): boolean => (known.get(jobId)?.user.is ?? 'unknown') === 'unknown';
    const others = [...all].filter((jobId) => !added.has(jobId) && (failed.has(jobId) || isUnknown(jobId)));
    return [known, new Map([...facts, ...(await stream.facts(others))])] as const;
  }

  private async publishOne(
    event: JobEvent,
    at: { happening: Happening; namesUsers: boolean; queueKey: string; manager: EntityManager },
  ): Promise<void> {
    const { happening, namesUsers, queueKey, manager } = at;
    const audience = jobAudienceOf(happening.job.user, this.config.queueEventsUser, namesUsers);
    const job = `job ${happening.job.jobId} of ${queueKey}`;
    this.warnOf(happening, audience, queueKey);
    if (audience === null) return;
    const options = { ...audience, idempotencyKey: `${event.name} ${queueKey} ${happening.event.id}`, manager };
    try {
      await this.events.publish(event.name, event.data as never, options);
    } catch (error) {
      // An invalid event is rejected before any statement runs, so the transaction can continue.
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'user_erased') this.dropped.inc();
      if (error.status === CONFLICT) return;
      const smaller = withoutResult(event);
      const isNew = smaller !== null && !('resultOmitted' in event.data);
      if (isNew) return this.publishOne(smaller, at);
      this.logger.error(`Publishing ${event.name} of ${job} failed; skipping it: ${error.message}`);
    }
  }

  private warnOfNoJob(jobId: string, queueKey: string): void {
    const text = `Job ${jobId.slice(0, MAX_LOGGED_ID)} of ${queueKey} cannot be read, because its key contains something else`;
    if (this.logged.isNews(text, Date.now())) this.logger.warn(`${text}; skipping its events.`);
  }

  /** Logs one line per minute and queue: a producer that writes a wrong user into one job writes it into many. */
  private warnOf({ job }: Happening, audience: { userId: string | null } | null, queueKey: string): void {
    const { is } = job.user;
    if (is === 'named' || is === 'none' || !this.logged.isNews(`${is} ${queueKey}`, Date.now())) return;
    const what = is === 'unusable' ? 'has an invalid data.userId' : 'was deleted before its data.userId could be read';
    const outcome = audience ? `published for ${audience.userId ?? 'all users'}` : 'not published';
    this.logger.warn(`Job ${job.jobId} of ${queueKey} ${what}; events of such jobs are ${outcome}.`);
  }
}
