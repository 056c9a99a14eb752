import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import type { Webhook } from '../../api/types';
import { ConsumerLines } from '../../parts/consumer-lines';
import { countText } from '../../parts/numbers';
import { plainOf } from '../../parts/plain';
import { Ago } from '../../parts/time';
import { TEXT } from '../../text/en';
import { exactLength } from './settings/delays';

const MOST_COUNTED = 1000;

/** Who leases the events of a pull webhook, and how many wait for them. */
export function Consumers({ webhook }: { webhook: Webhook }) {
  const { id, lastLeasedAt, lastLeasedBy, idleSeconds, stats } = webhook;
  const { pull } = TEXT;
  return (
    <section class="card consumers" aria-labelledby="consumers">
      <h2 id="consumers">{pull.consumers}</h2>
      <dl class="facts">
        <dt>{pull.lastLeased}</dt>
        <dd>
          {lastLeasedAt ? <Ago at={lastLeasedAt} /> : pull.byNone}
          {lastLeasedBy !== null && ` ${pull.byToken(plainOf(lastLeasedBy))}`}
        </dd>
        {stats && (
          <>
            <dt>{pull.waiting}</dt>
            <dd>
              <Link href={encoded`/deliveries?webhookId=${id}&status=pending`}>
                {pull.waitingCount(countText(stats.pending, stats.pending >= MOST_COUNTED))}
              </Link>
            </dd>
          </>
        )}
        <dt>{pull.idle}</dt>
        <dd>{idleSeconds === null ? pull.idleNever : pull.idleAfter(exactLength(idleSeconds * 1000))}</dd>
      </dl>
      <details open={lastLeasedAt === null}>
        <summary>{pull.how}</summary>
        <ConsumerLines id={id} />
      </details>
    </section>
  );
}
