import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useWebhooks } from '../../api/queries';
import { useSigned } from '../../api/signed';
import type { EventStory } from '../../api/types';
import { nameOf } from '../../parts/webhook-name';
import { TEXT } from '../../text/en';
import { absenceOf } from './lanes';

/** The user's webhooks that an event for them was not sent to, each with the reason. */
export function NotSent({ story }: { story: EventStory }) {
  const { session } = useSigned();
  const { data } = useWebhooks();
  const isForThem = story.userId === null || story.userId === session.userId;
  const isTest = story.deliveries.some(({ trigger }) => trigger === 'test');
  const sent = new Set(story.deliveries.map(({ webhookId }) => webhookId));
  const others = (data?.rows ?? []).filter(({ id }) => !sent.has(id));
  if (others.length === 0 || !isForThem || isTest) return null;
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
