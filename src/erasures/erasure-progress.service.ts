import { Injectable, Logger } from '@nestjs/common';
import { ErasingUsersService } from '../auth/erasing-users.service';
import { SendQueue } from '../deliveries/send.queue';
import { logFirst, Repeat } from '../infrastructure/concurrency/repeat.timer';
import { SharedStateService } from '../infrastructure/database/shared-state.service';
import { isDatabaseUnavailable, isLocked } from '../infrastructure/errors/database-error';
import { RepeatFilter } from '../infrastructure/queue/repeat-filter';
import { WorkerTasksService } from '../infrastructure/queue/worker-tasks.service';
import { SecretsService } from '../webhooks/secrets/secrets.service';
import { DAY_ROWS, type DayRows, ERASURE_STEPS, ErasurePagesRepository } from './erasure-pages.repository';
import type { ErasureKind } from './erasure.entity';
import { type DueErasure, ErasuresRepository, type PageAction } from './erasures.repository';

const CONTINUE_EVERY_MS = 1000;
/** After this many pages, other erasures get a turn. */
const MAX_PAGES = 100;

interface Turn {
  id: string;
  userId: string;
  pages: number;
}

/**
 * Advances erasures, one page at a time, each in a short transaction. The state of an erasure is in its row, so any worker may
 * take the next page, whichever process started it. The first pass deletes what the user owns and what writes new rows, such as
 * webhooks and accounts. The last pass begins when no process writes for the user any more. It deletes events and deliveries,
 * and again everything of the first pass.
 */
@Injectable()
export class ErasureProgressService {
  private readonly logger = new Logger(ErasureProgressService.name);
  private readonly logged = new RepeatFilter();

  constructor(
    private readonly erasing: ErasingUsersService,
    private readonly erasures: ErasuresRepository,
    private readonly pages: ErasurePagesRepository,
    private readonly secrets: SecretsService,
    private readonly queue: SendQueue,
    private readonly shared: SharedStateService,
    tasks: WorkerTasksService,
  ) {
    const onFailure = logFirst(this.logger, 'Reading the running erasures');
    tasks.add(new Repeat(() => this.continueAll(), { everyMs: CONTINUE_EVERY_MS, onFailure }));
  }

  /** Advances every running erasure by at most 100 pages. Throws while PostgreSQL is unavailable. */
  async continueAll(): Promise<void> {
    if (this.erasing.areNone) return;
    for (const due of await this.erasures.due())
      await this.continue(due).catch((error: unknown) => this.report(due.id, error));
  }

  /** A failed page is retried at the next turn. */
  private report(id: string, error: unknown): void {
    if (isLocked(error)) return;
    const text = `Advancing erasure ${id} failed; retrying: ${String(error)}`;
    if (!isDatabaseUnavailable(error) && this.logged.isNews(text, Date.now())) this.logger.error(text);
  }

  private async continue({ id, sealedUser, isLastPass }: DueErasure): Promise<void> {
    const userId = this.secrets.open(id, sealedUser);
    if (userId === null) throw new Error('no key of SECRETS_KEY decrypts its user');
    const turn = { id, userId, pages: MAX_PAGES };
    // Before the steps: canceling a pending delivery still counts as an attempt.
    if (isLastPass) for (const rows of DAY_ROWS) if (!(await this.eraseDayRows(turn, rows))) return;
    for (const step of ERASURE_STEPS) if (!(await this.eraseRows(turn, step))) return;
    if (!isLastPass) return this.erasures.awaitLastPass(id);
    await this.erasures.finish(id);
    await this.shared.refresh();
    this.logger.log({ msg: 'user erased', erasureId: id });
  }

  private async eraseRows(turn: Turn, { kind, statement }: (typeof ERASURE_STEPS)[number]): Promise<boolean> {
    for (;;) {
      const count = await this.page(turn, kind, (manager) => this.pages.change(manager, statement, turn.userId));
      if (!count) return count === 0;
    }
  }

  private async eraseDayRows(turn: Turn, rows: DayRows): Promise<boolean> {
    for (let afterId: string | undefined; ;) {
      const found = await this.pages.find(rows, turn.userId, afterId);
      if (found.length === 0) return true;
      // Before the rows, whose ids are those of the jobs: a job contains the user's id and may be due in hours.
      const queued = found.filter(({ mayBeQueued }) => mayBeQueued);
      if (!(await this.queue.forget(queued.map(({ id }) => id)))) throw new Error('the queue is unavailable');
      const ids = found.map(({ id }) => id);
      const count = await this.page(turn, rows.kind, (manager) => this.pages.changeAll(manager, rows, ids));
      if (count === null) return false;
      afterId = ids.at(-1);
    }
  }

  /** Returns the number of changed rows; null when the turn is over: no page is left, or another process has taken over. */
  private async page(turn: Turn, kind: ErasureKind | null, action: PageAction): Promise<number | null> {
    return turn.pages-- > 0 ? this.erasures.page(turn.id, kind, action) : null;
  }
}
