import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useWebhooks } from '../../api/queries';
import { covers } from '../../parts/event-names';
import { nameOf } from '../../parts/webhook-name';
import { TEXT } from '../../text/en';
import type { Audience } from './draft';

const MOST = 5;

/** The user's own webhooks that will receive the event. */
export function Reach({ event, audience }: { event: string; audience: Audience }) {
  const webhooks = useWebhooks();
  if (audience === 'user') return <p class="muted">{TEXT.publish.reachUser}</p>;
  if (!webhooks.data) return null;
  const reached = webhooks.data.rows.filter(
    ({ active, events }) => active && events.some((each) => covers(each, event)),
  );
  if (reached.length === 0) {
    return <p class="muted">{audience === 'me' ? TEXT.publish.noReach : TEXT.publish.reachOthers}</p>;
  }
  return (
    <div class="reach">
      <p>{TEXT.publish.reach(reached.length, audience === 'everybody')}</p>
      <ul class="plain">
        {reached.slice(0, MOST).map((webhook) => (
          <li key={webhook.id}>
            <Link href={encoded`/webhooks/${webhook.id}`}>{nameOf(webhook)}</Link>
            {webhook.filter && <span class="muted small"> {TEXT.publish.filtered}</span>}
          </li>
        ))}
        {reached.length > MOST && <li class="muted">{TEXT.publish.more(reached.length - MOST)}</li>}
      </ul>
    </div>
  );
}
