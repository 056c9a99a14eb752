import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isDatabaseUnavailable, isLocked } from '../../infrastructure/errors/database-error';
import { Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { FilteredEventsService } from './filtered-events.service';
import { MissedEventsRepository } from './missed-events.repository';
import { RecoveriesRepository, type RunningRecovery } from './recoveries.repository';
import { WaitingRowsRepository } from '../rows/waiting-rows.repository';
import { SendQueue } from '../send.queue';

/** The next page follows when fewer than this many redeliveries of earlier pages are still to be sent. */
const MOSTLY_SENT = 100;
/** Pages without missed events are quick. After this many pages, other recoveries get a turn. */
const MAX_PAGES = 20;
const CONTINUE_EVERY_MS = 1000;

interface Step {
  /** Ids of the inserted attempts that a job makes. */
  ids: string[];
  more: boolean;
}

const NO_STEP: Step = { ids: [], more: false };

/**
 * Advances recoveries, one page at a time. Each page is one short transaction under the lock of its webhook. The state of a
 * recovery is in rows, so any process may take the next step, whichever process started it.
 */
@Injectable()
export class RecoveryProgressService {
  private readonly logger = new Logger(RecoveryProgressService.name);

  constructor(
    private readonly dataSource: DataSource,
    private readonly missed: MissedEventsRepository,
    private readonly filtered: FilteredEventsService,
    private readonly recoveries: RecoveriesRepository,
    private readonly rows: WaitingRowsRepository,
    private readonly queue: SendQueue,
    tasks: WorkerTasksService,
  ) {
    const onFailure = (error: unknown): void => this.report('Reading the running recoveries', error);
    tasks.add(new Repeat(() => this.continueAll(), { everyMs: CONTINUE_EVERY_MS, onFailure }));
  }

  /**
   * Advances the recoveries whose turn it is as far as possible without waiting. Returns 0 when others may follow at once. Throws
   * while PostgreSQL is unavailable.
   */
  async continueAll(): Promise<number | void> {
    const running = await this.recoveries.turns.next();
    if (!running) return;
    for (const recovery of running) await this.continue(recovery);
    return 0;
  }

  /** Never throws: any process retries a failed step at its next turn. */
  async continue({ id, webhookId, userId }: RunningRecovery): Promise<void> {
    try {
      for (let pages = 0, more = true; more && pages < MAX_PAGES; pages++) {
        const step = await this.dataSource.transaction((manager) => this.step(manager, id, webhookId));
        await this.queue.enqueue(step.ids, { webhookId, userId });
        more = step.more;
      }
    } catch (error) {
      this.report(`Advancing recovery ${id}`, error);
    }
  }

  private report(what: string, error: unknown): void {
    if (!isDatabaseUnavailable(error) && !isLocked(error))
      this.logger.error(`${what} failed; retrying: ${String(error)}`);
  }

  private async step(manager: EntityManager, id: string, webhookId: string): Promise<Step> {
    const webhook = await this.recoveries.lockWebhook(manager, webhookId, false);
    const recovery = await this.recoveries.reread(manager, id);
    if (!webhook || !recovery) return NO_STEP;
    if (!webhook.active) {
      await this.recoveries.end(manager, webhookId);
      return NO_STEP;
    }
    if ((await this.recoveries.unsent(manager, webhookId, MOSTLY_SENT)) === MOSTLY_SENT) return NO_STEP;
    const names = await this.missed.names(recovery, webhook.events, manager);
    const { missed, edge } = await this.missed.next(manager, recovery, names, recovery.cursor);
    const eventIds = await this.filtered.matching(webhook.filter, missed, manager);
    const ids = await this.rows.insert(manager, webhookId, eventIds, 'redelivery');
    await this.recoveries.advance(manager, id, edge ?? recovery.untilId, ids.length);
    if (edge === null) await this.recoveries.end(manager, webhookId);
    return { ids: webhook.url === null ? [] : ids, more: edge !== null };
  }
}
