import { useQuery } from '@tanstack/preact-query';
import { Link, useParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useAbout, useWebhooks } from '../api/queries';
import { useSigned } from '../api/signed';
import type { EventStory } from '../api/types';
import { resultOf } from '../parts/delivery-rows';
import { Body } from '../parts/message';
import { Heading } from '../parts/heading';
import { plainOf } from '../parts/plain';
import { RedeliverButton } from '../parts/redeliver';
import { Result } from '../parts/result';
import { DeliveryStatus } from '../parts/status';
import { At } from '../parts/time';
import { Timeline } from '../parts/timeline';
import { destinationOf, nameOf } from '../parts/webhook-name';
import { TEXT } from '../text/en';
import { type Lane, lanesOf, lastOf } from './story/lanes';
import { NotSent } from './story/not-sent';

/** As long as something is to come, the event is read again. */
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
  const lanes = lanesOf(story.deliveries);
  return (
    <>
      <div>
        <p>
          <strong class="code">{plainOf(story.event)}</strong> {TEXT.story.published} <At at={story.createdAt} />{' '}
          <span class="muted">
            {story.publishedBy && TEXT.story.by(plainOf(story.publishedBy))}{' '}
            {TEXT.story.for(story.userId === null ? TEXT.story.everybody : plainOf(story.userId))}
          </span>
        </p>
        {story.subject !== null && (
          <p>
            {TEXT.log.columns.subject}{' '}
            <Link href={encoded`/events?subject=${story.subject}`}>{plainOf(story.subject)}</Link>
          </p>
        )}
        {story.traceparent && <p class="muted small url">traceparent {plainOf(story.traceparent)}</p>}
        <p class="muted">{story.fannedOutAt === null ? TEXT.story.fansOut : TEXT.story.sentTo(lanes.length)}</p>
      </div>
      {lanes.map((lane) => (
        <LaneCard key={lane[0].webhookId} lane={lane} />
      ))}
      {story.fannedOutAt !== null && <NotSent story={story} />}
      <section class="message" aria-labelledby="data">
        <h2 id="data">{TEXT.story.data}</h2>
        <Body body={JSON.stringify(story.data, null, 2)} />
        <p class="actions">
          <Link href={encoded`/publish?like=${story.id}`}>{TEXT.story.again}</Link>
        </p>
      </section>
    </>
  );
}

/** Where the test receiver of this service listens. */
const TEST_RECEIVER = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\]):\d+\/try\//;

function LaneCard({ lane }: { lane: Lane }) {
  const last = lastOf(lane);
  const webhook = useWebhooks().data?.rows.find(({ id }) => id === last.webhookId);
  return (
    <section class="card lane" aria-label={destinationOf(last)}>
      <header>
        <DeliveryStatus of={last} />
        <h2>
          <Link class="name" href={encoded`/webhooks/${last.webhookId}`}>
            {webhook ? nameOf(webhook) : destinationOf(last)}
          </Link>
        </h2>
        <RedeliverButton of={last} />
      </header>
      <p class="muted small url">
        {last.url === null ? TEXT.pull.kind : plainOf(last.url)}{' '}
        {last.url !== null && TEST_RECEIVER.test(last.url) && <Link href="/receiver">{TEXT.story.openReceiver}</Link>}
      </p>
      {last.status === 'failed' && <p class="notice">{resultOf(last)}</p>}
      <Timeline attempts={lane} />
    </section>
  );
}
