import { Injectable } from '@nestjs/common';
import { type Statement, StatementsService } from '../../plumbing/database/statements.service';
import type { AttemptCount } from './attempt-numbers';
import type { StepWindow } from './step-window';

/** Counts of a step. */
export interface StepCount extends AttemptCount {
  webhookId: string;
  /** When the step begins. */
  from: Date;
}

/** What a webhook does at this moment. */
export interface Present {
  webhookId: string;
  /** Deliveries that are pending, tests apart, counted up to 1,000. */
  pending: number;
  /** To within 5 minutes; null when none is kept. */
  lastSuccessAt: Date | null;
  lastDeliveryAt: Date | null;
}

const HOUR_MS = 3_600_000;

const STEP_COUNTS = `
  select date_bin($4 * interval '1 millisecond', at, timestamptz 'epoch') as "from", status,
         error_code as "errorCode", duration_class as "durationClass", sum(count)::int as count`;

const COUNTS_OF_USER: Statement = {
  name: 'attempt_counts_of_user',
  text: `
    ${STEP_COUNTS} from webhook_service.attempt_counts
    where user_id = $1 and minutes = $5 and at >= $2 and at < $3 group by 1, 2, 3, 4`,
};

const COUNTS_OF_WEBHOOKS: Statement = {
  name: 'attempt_counts_of_webhooks',
  text: `
    ${STEP_COUNTS}, webhook_id as "webhookId" from webhook_service.attempt_counts
    where webhook_id = any($1::uuid[]) and minutes = $5 and at >= $2 and at < $3
      and status in ('succeeded', 'failed', 'canceled')
    group by 1, 2, 3, 4, webhook_id`,
};

const lastAt = (status: string) => `
  (select at from webhook_service.attempt_counts c
   where c.webhook_id = w.id and c.minutes = 5 and c.status = '${status}' order by at desc limit 1)`;

const LAST_TIMES: Statement = {
  name: 'last_attempts_of_webhooks',
  text: `
    select w.id as "webhookId", ${lastAt('succeeded')} as "lastSuccessAt",
           greatest(${lastAt('succeeded')}, ${lastAt('failed')}) as "lastDeliveryAt"
    from unnest($1::uuid[]) as w (id)`,
};

const PENDING: Statement = {
  name: 'pending_of_webhooks',
  text: `
    select w.id as "webhookId", (
      select count(*)::int from (
        select from webhook_service.deliveries d
        where d.webhook_id = w.id and d.status = 'pending' and d.trigger <> 'test' limit 1000) as p) as pending
    from unnest($1::uuid[]) as w (id)`,
};

const HAS_WEBHOOK: Statement = {
  name: 'user_has_webhook',
  text: 'select from webhook_service.webhooks where id = $1 and user_id = $2',
};

/** Reads what was counted. See `counting.ts` for how it is written. */
@Injectable()
export class StatsRepository {
  constructor(private readonly statements: StatementsService) {}

  /** The counts of all webhooks of a user together, deleted ones included. */
  ofUser(userId: string, window: StepWindow): Promise<Omit<StepCount, 'webhookId'>[]> {
    return this.statements.run(COUNTS_OF_USER, [userId, ...boundsOf(window)]);
  }

  /** The counts of each of these webhooks. */
  ofWebhooks(ids: readonly string[], window: StepWindow): Promise<StepCount[]> {
    return this.statements.run<StepCount & Record<string, unknown>>(COUNTS_OF_WEBHOOKS, [ids, ...boundsOf(window)]);
  }

  /** When an attempt at each of these webhooks last succeeded, and was last made; tests do not count. */
  lastTimes(ids: readonly string[]): Promise<Omit<Present, 'pending'>[]> {
    return this.statements.run<Present & Record<string, unknown>>(LAST_TIMES, [ids]);
  }

  /** How many deliveries of each of these webhooks are pending, counted up to 1,000. */
  pending(ids: readonly string[]): Promise<Pick<Present, 'webhookId' | 'pending'>[]> {
    return this.statements.run<Present & Record<string, unknown>>(PENDING, [ids]);
  }

  /** True when the user has this webhook. */
  async hasWebhook(userId: string, id: string): Promise<boolean> {
    return (await this.statements.run(HAS_WEBHOOK, [id, userId])).length > 0;
  }
}

/** Hours are kept beside five minutes, so that long spans are read quickly. */
function boundsOf({ stepMs, froms }: StepWindow): [since: Date, until: Date, stepMs: number, minutes: number] {
  const [first, last] = [froms[0] as Date, froms.at(-1) as Date];
  return [first, new Date(last.getTime() + stepMs), stepMs, stepMs < HOUR_MS ? 5 : 60];
}
