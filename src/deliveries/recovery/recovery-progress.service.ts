import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { isDatabaseUnavailable } from '../../plumbing/errors/database-error';
import { Repeat } from '../../plumbing/timers/repeat.timer';
import { MissedEventsRepository } from './missed-events.repository';
import { RecoveriesRepository, type RunningRecovery } from './recoveries.repository';
import { RedeliveriesRepository } from './redeliveries.repository';
import { SendQueue } from '../send.queue';

/** The most events that one step looks at, and so the most that it queues. */
const PAGE = 500;
/** The next page follows when fewer than this many redeliveries of the pages before are still to be sent. */
const MOSTLY_SENT = 100;
/** Pages without a missed event are quick. After this many pages other recoveries get a turn. */
const MAX_PAGES = 20;
const CONTINUE_EVERY_MS = 1000;

interface Step {
  /** The attempts that were inserted. */
  ids: string[];
  /** Whether the next page can follow at once. */
  more: boolean;
}

const NO_STEP: Step = { ids: [], more: false };

/**
 * Takes recoveries further, a page at a time. Each page is one short transaction under the lock of its webhook. The
 * state of a recovery is in rows, so any process may take the next step, whichever process it began in.
 */
@Injectable()
export class RecoveryProgressService implements OnApplicationShutdown {
  private readonly logger = new Logger('Recoveries');
  private readonly repeat = new Repeat(() => this.continueAll(), {
    everyMs: CONTINUE_EVERY_MS,
    onFailure: (error) => this.report('Recoveries', error),
  });

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly missed: MissedEventsRepository,
    private readonly recoveries: RecoveriesRepository,
    private readonly redeliveries: RedeliveriesRepository,
    private readonly queue: SendQueue,
  ) {}

  /** Takes all recoveries further, every second from now on. */
  start(): void {
    this.repeat.start();
  }

  /** Begins no further turn. Resolves when the turn under way has ended. */
  stop(): Promise<void> {
    return this.repeat.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  /** Takes every running recovery as far as it goes without waiting. Throws while PostgreSQL is away. */
  async continueAll(): Promise<void> {
    for (const recovery of await this.recoveries.running()) await this.continue(recovery);
  }

  /**
   * Takes one recovery as far as it goes without waiting. Never throws: what fails is tried again at the next turn, in
   * this process or another.
   */
  async continue({ id, webhookId, userId }: RunningRecovery): Promise<void> {
    try {
      for (let pages = 0, more = true; more && pages < MAX_PAGES; pages++) {
        const step = await this.dataSource.transaction((manager) => this.step(manager, id, webhookId));
        await this.queue.offer(step.ids, { webhookId, userId });
        more = step.more;
      }
    } catch (error) {
      this.report(`Recovery ${id}`, error);
    }
  }

  private report(what: string, error: unknown): void {
    if (!isDatabaseUnavailable(error)) this.logger.error(`${what} cannot go on at present: ${String(error)}`);
  }

  private async step(manager: EntityManager, id: string, webhookId: string): Promise<Step> {
    const webhook = await this.redeliveries.tryToLockWebhook(manager, webhookId);
    const recovery = await this.recoveries.reread(manager, id);
    if (!webhook || !recovery) return NO_STEP;
    if (!webhook.active) {
      await this.recoveries.end(manager, webhookId);
      return NO_STEP;
    }
    if ((await this.recoveries.unsent(manager, webhookId, MOSTLY_SENT)) === MOSTLY_SENT) return NO_STEP;
    const page = await this.missed.page(manager, recovery, recovery.cursor, PAGE);
    const eventIds = page.filter(({ missed }) => missed).map(({ id: eventId }) => eventId);
    const ids = await this.redeliveries.insert(manager, webhookId, eventIds);
    const last = page.at(-1);
    if (last) await this.recoveries.advance(manager, id, last.id, ids.length);
    if (page.length < PAGE) await this.recoveries.end(manager, webhookId);
    return { ids, more: page.length === PAGE };
  }
}
