import { Injectable } from '@nestjs/common';
import { type Statement, StatementsService } from '../../infrastructure/database/statements.service';
import { MetricsService } from '../../infrastructure/metrics/metrics.service';
import { hasRate, JOB_LEASE } from '../rows/lease';
import { isStopped, isStopping } from '../rows/stopping';

/** Age in seconds of the oldest due row of each kind and state; 0 when there is none. */
export interface OldestDue {
  unattendedEvents: number;
  pendingEvents: number;
  unattendedDeliveries: number;
  pendingDeliveries: number;
  deferredDeliveries: number;
}

const secondsSince = (time: string): string => `coalesce(extract(epoch from now() - min(${time})), 0)::float8`;

/** Sweeps run every second, so no process attends to a lease that ended before this. */
const UNATTENDED_SINCE = `now() - interval '5 seconds'`;

/**
 * Reads $1 rows of each state, those whose leases end first, and the first row of $2 webhooks with deferred rows, except rows that
 * wait for a rate or a consumer, or to be canceled. It reads only partial indexes, so its cost is bounded whatever the tables contain; older rows may
 * exist beyond these. A pending row that is due has a lease of at most JOB_LEASE from now.
 */
export const OLDEST_DUE: Statement = {
  name: 'oldest_due',
  text: `
    with recursive key as (
      (select user_id, webhook_id, scheduled_at from webhook_service.deliveries
       where status = 'pending' and parked order by user_id, webhook_id, id limit 1)
      union all
      select following.* from key cross join lateral (
        select user_id, webhook_id, scheduled_at from webhook_service.deliveries
        where status = 'pending' and parked and (user_id, webhook_id) > (key.user_id, key.webhook_id)
        order by user_id, webhook_id, id limit 1
      ) as following
    )
    select
      (select ${secondsSince('accepted_at')} from (
        select accepted_at from webhook_service.events
        where fanned_out_at is null and leased_until < ${UNATTENDED_SINCE} order by leased_until limit $1
      ) as e) as "unattendedEvents",
      (select ${secondsSince('accepted_at')} from (
        select accepted_at from webhook_service.events
        where fanned_out_at is null and leased_until >= ${UNATTENDED_SINCE} order by leased_until limit $1
      ) as e) as "pendingEvents",
      (select ${secondsSince('scheduled_at')} from (
        select scheduled_at, url, trigger, webhook_id from webhook_service.deliveries
        where status = 'pending' and leased_until < ${UNATTENDED_SINCE} order by leased_until limit $1
      ) as d where url is not null and not ${isStopped('d')}) as "unattendedDeliveries",
      (select ${secondsSince('scheduled_at')} from (
        select scheduled_at, parked, url, trigger, webhook_id from webhook_service.deliveries
        where status = 'pending' and leased_until between ${UNATTENDED_SINCE} and now() + ${JOB_LEASE}
        order by leased_until limit $1
      ) as d where not parked and url is not null and scheduled_at <= now() and not ${isStopped('d')}) as "pendingDeliveries",
      (select ${secondsSince('scheduled_at')} from (select * from key limit $2) as d
       where not ${hasRate('d')} and not ${isStopping('d.webhook_id')}) as "deferredDeliveries"`,
};

const MAX_ROWS = 1000;
const MAX_WEBHOOKS = 1000;

/** Exports how late the service is, as a metric. */
@Injectable()
export class OldestDueService {
  constructor(
    private readonly statements: StatementsService,
    metrics: MetricsService,
  ) {
    const help = 'Age of the oldest row that is due, in seconds; 0 when there is none.';
    metrics.gauge('webhooks_oldest_due_seconds', help, ['kind', 'state'], async () => {
      const ages = await this.read(MAX_ROWS, MAX_WEBHOOKS);
      const sample = (kind: string, state: string, value: number) => ({ labels: { kind, state }, value });
      return [
        sample('events', 'pending', ages.pendingEvents),
        sample('events', 'unattended', ages.unattendedEvents),
        sample('deliveries', 'pending', ages.pendingDeliveries),
        sample('deliveries', 'unattended', ages.unattendedDeliveries),
        sample('deliveries', 'deferred', ages.deferredDeliveries),
      ];
    });
  }

  /** Reads `rows` rows of each state and `webhooks` webhooks with deferred rows. Throws while PostgreSQL is unavailable. */
  async read(rows: number, webhooks: number): Promise<OldestDue> {
    const [found] = await this.statements.run<OldestDue & Record<string, unknown>>(OLDEST_DUE, [rows, webhooks]);
    if (!found) throw new Error('The statement returned no row.');
    return found;
  }
}
