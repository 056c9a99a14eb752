import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { Link, useParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useAbout, useWebhooks } from '../api/queries';
import { useSigned } from '../api/signed';
import type { Delivery, EventStory } from '../api/types';
import { CopyButton } from '../parts/copy';
import { outcomeOf } from '../parts/delivery-rows';
import { Heading } from '../parts/heading';
import { plainOf } from '../parts/plain';
import { Problem } from '../parts/problem';
import { Result } from '../parts/result';
import { DeliveryStatus } from '../parts/status';
import { At, lengthOf } from '../parts/time';
import { TEXT } from '../text/en';

/** As long as something is to come, it is looked at again. */
const EVERY_MS = 1000;
/** A first attempt has a row within this time after its event was fanned out. */
const FIRST_ROW_MS = 5000;

/** What became of one event: published, fanned out, and a lane of attempts for each webhook. */
export function StoryScreen() {
  const { api } = useSigned();
  const about = useAbout();
  const { id = '' } = useParams();
  const story = useQuery({
    queryKey: ['event', id],
    queryFn: ({ signal }) => api.get<EventStory>(encoded`events/${id}`, {}, signal),
    refetchInterval: ({ state }) => (isOver(state.data) ? false : EVERY_MS),
  });
  return (
    <>
      <Heading title={TEXT.story.title} />
      <Result of={story} what={TEXT.story.title} lines={6} missing={TEXT.keptFor(about?.retentionDays)}>
        {(found) => <Story story={found} />}
      </Result>
    </>
  );
}

const isOver = (story: EventStory | undefined): boolean =>
  story !== undefined &&
  story.fannedOutAt !== null &&
  Date.now() - Date.parse(story.fannedOutAt) > FIRST_ROW_MS &&
  story.deliveries.every(({ status }) => status !== 'pending');

function Story({ story }: { story: EventStory }) {
  const data = JSON.stringify(story.data, null, 2);
  return (
    <>
      <ol class="story">
        <li>
          <strong>{plainOf(story.event)}</strong> {TEXT.story.published} <At at={story.createdAt} />{' '}
          <span class="muted">
            {story.publishedBy && TEXT.story.by(plainOf(story.publishedBy))}{' '}
            {TEXT.story.for(story.userId === null ? TEXT.story.everybody : plainOf(story.userId))}
          </span>
          {story.traceparent && <p class="muted small url">traceparent {plainOf(story.traceparent)}</p>}
        </li>
        <li>
          {story.fannedOutAt ? (
            <>
              {TEXT.story.fannedOut} <At at={story.fannedOutAt} />
            </>
          ) : (
            TEXT.story.fansOut
          )}
        </li>
      </ol>
      {story.deliveries.length === 0 && story.fannedOutAt && <p class="muted">{TEXT.story.noWebhook}</p>}
      {lanesOf(story.deliveries).map((lane) => (
        <Lane key={lane[0].webhookId} lane={lane} />
      ))}
      <section class="message" aria-labelledby="data">
        <h2 id="data">{TEXT.story.data}</h2>
        <pre tabIndex={0}>{plainOf(data)}</pre>
        <p class="actions">
          <CopyButton text={data} />
          <Link href={encoded`/publish?like=${story.id}`}>{TEXT.story.again}</Link>
        </p>
      </section>
    </>
  );
}

type Attempts = [Delivery, ...Delivery[]];

function Lane({ lane }: { lane: Attempts }) {
  const { api, may } = useSigned();
  const queries = useQueryClient();
  const last = lane.at(-1) ?? lane[0];
  const redeliver = useMutation({
    mutationFn: () => api.send<Delivery>('POST', encoded`webhooks/${last.webhookId}/deliveries/${last.id}/redeliver`),
    onSettled: () => queries.invalidateQueries(),
  });
  return (
    <section class="lane" aria-label={plainOf(last.url)}>
      <div class="heading">
        <h2 class="url">
          <Link href={encoded`/webhooks/${last.webhookId}`}>{plainOf(last.url)}</Link>
        </h2>
        <button
          type="button"
          class="button"
          disabled={!may('webhooks:write') || redeliver.isPending}
          onClick={() => redeliver.mutate()}
        >
          {last.status === 'pending' ? TEXT.delivery.sendNow : TEXT.delivery.redeliver}
        </button>
      </div>
      {redeliver.isError && <Problem error={redeliver.error} />}
      <ol>
        {lane.map((attempt) => (
          <li key={attempt.id} class={attempt.status === 'pending' ? 'to-come' : ''}>
            <span class="number muted">
              {attempt.trigger === 'redelivery' ? `${TEXT.story.redelivery} ` : ''}
              {TEXT.story.attempt(attempt.attempt)}
            </span>
            <DeliveryStatus status={attempt.status} />
            <Link href={encoded`/deliveries/${attempt.id}`}>{outcomeOf(attempt)}</Link>
            <At at={attempt.completedAt ?? attempt.scheduledAt} />
          </li>
        ))}
        {last.status === 'pending' && <ToCome last={last} />}
      </ol>
    </section>
  );
}

/** What comes after the attempt that waits, should it fail. */
function ToCome({ last }: { last: Delivery }) {
  const about = useAbout();
  const webhook = useWebhooks().data?.rows.find(({ id }) => id === last.webhookId);
  if (!about || !webhook) return null;
  const plan = webhook.retryDelaysMs?.slice(0, about.maxRetries) ?? about.retryDelaysMs;
  const waits = plan.slice(last.attempt - 1);
  if (waits.length === 0) return null;
  return <li class="to-come muted">{TEXT.story.toCome(waits.map(lengthOf).join(', '))}</li>;
}

/** The attempts of each webhook, in the order in which they were made. */
function lanesOf(deliveries: readonly Delivery[]): Attempts[] {
  const lanes = new Map<string, Attempts>();
  for (const delivery of [...deliveries].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const lane = lanes.get(delivery.webhookId);
    if (lane) lane.push(delivery);
    else lanes.set(delivery.webhookId, [delivery]);
  }
  return [...lanes.values()];
}
