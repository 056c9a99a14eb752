import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { isDatabaseUnavailable } from '../../plumbing/errors/database-error';
import { MissedEventsRepository } from './missed-events.repository';
import { RecoveriesRepository } from './recoveries.repository';
import type { Recovery } from './recovery.entity';
import { RedeliveriesRepository } from './redeliveries.repository';
import { SendQueue } from '../send.queue';

/** Events that one step looks at, and so the most that it queues. */
const PAGE = 500;
/** The next page follows when fewer than this many of the pages before are still to be sent. */
const MOSTLY_SENT = 100;
/** Pages without a missed event are quick; even so, other recoveries have their turn. */
const MAX_PAGES = 20;

interface Step {
  /** The attempts that were inserted. */
  ids: string[];
  /** Whether the next page can follow at once. */
  more: boolean;
}

const NO_STEP: Step = { ids: [], more: false };

/**
 * Takes recoveries further, a page at a time, each page in one short transaction under the lock of its webhook. Everything
 * that it knows is in rows: any process may take the next step, and two of them at once take turns.
 */
@Injectable()
export class RecoveryProgressService {
  private readonly logger = new Logger('Recoveries');

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly missed: MissedEventsRepository,
    private readonly recoveries: RecoveriesRepository,
    private readonly redeliveries: RedeliveriesRepository,
    private readonly queue: SendQueue,
  ) {}

  async continueAll(): Promise<void> {
    for (const recovery of await this.recoveries.running()) await this.continue(recovery);
  }

  /** As far as it goes without waiting. Never throws: what fails is tried again at the next turn, here or elsewhere. */
  async continue({ id, webhookId }: Pick<Recovery, 'id' | 'webhookId'>): Promise<void> {
    try {
      for (let pages = 0, more = true; more && pages < MAX_PAGES; pages++) {
        const step = await this.dataSource.transaction((manager) => this.step(manager, id, webhookId));
        await this.queue.offer(step.ids);
        more = step.more;
      }
    } catch (error) {
      if (!isDatabaseUnavailable(error)) this.logger.error(`Recovery ${id} cannot go on at present: ${String(error)}`);
    }
  }

  private async step(manager: EntityManager, id: string, webhookId: string): Promise<Step> {
    const webhook = await this.redeliveries.lockWebhook(manager, webhookId);
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
