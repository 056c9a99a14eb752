import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useWebhooks } from '../../api/queries';
import type { EventStory } from '../../api/types';
import { nameOf } from '../../parts/webhook-name';
import { TEXT } from '../../text/en';
import { absenceOf } from './lanes';

/** The webhooks that the event was not sent to, each with the reason. */
export function NotSent({ story }: { story: EventStory }) {
  const { data } = useWebhooks();
  const sent = new Set(story.deliveries.map(({ webhookId }) => webhookId));
  const others = (data?.rows ?? []).filter(({ id }) => !sent.has(id));
  if (others.length === 0) return null;
  return (
    <details class="card not-sent" open={sent.size === 0}>
      <summary>{TEXT.story.notSentTo(others.length)}</summary>
      <ul>
        {others.map((webhook) => (
          <li key={webhook.id}>
            <Link class="name" href={encoded`/webhooks/${webhook.id}`}>
              {nameOf(webhook)}
            </Link>{' '}
            <span class="muted">{TEXT.story.absences[absenceOf(webhook, story)]}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
