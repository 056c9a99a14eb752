import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { Link, useLocation, useParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { CallError } from '../api/call';
import { useAbout } from '../api/queries';
import { useSigned } from '../api/signed';
import type { Delivery, DeliveryDetail } from '../api/types';
import { ApiCall } from '../parts/api-call';
import { CopyButton } from '../parts/copy';
import { curlOf, localUrlOf, rawOf } from '../parts/curl';
import { outcomeOf } from '../parts/delivery-rows';
import { Heading } from '../parts/heading';
import { lastList } from '../parts/last-list';
import { Message } from '../parts/message';
import { plainOf } from '../parts/plain';
import { Problem } from '../parts/problem';
import { Result } from '../parts/result';
import { DeliveryStatus } from '../parts/status';
import { At } from '../parts/time';
import { TEXT } from '../text/en';

/** One attempt: what happened in a sentence, then exactly what was sent and what came back. */
export function DeliveryScreen() {
  const { api } = useSigned();
  const about = useAbout();
  const { id = '' } = useParams();
  const delivery = useQuery({
    queryKey: ['delivery', id],
    queryFn: ({ signal }) => api.get<DeliveryDetail>(encoded`deliveries/${id}`, {}, signal),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? 2000 : false),
  });
  const { before, after } = lastList.around(id);
  return (
    <>
      <Heading title={TEXT.delivery.title}>
        <nav class="actions" aria-label={TEXT.delivery.inList}>
          {before && <Link href={encoded`/deliveries/${before}`}>{TEXT.delivery.before}</Link>}
          {after && <Link href={encoded`/deliveries/${after}`}>{TEXT.delivery.after}</Link>}
        </nav>
      </Heading>
      <Result of={delivery} what={TEXT.delivery.title} lines={8} missing={TEXT.keptFor(about?.retentionDays)}>
        {(found) => <Attempt key={found.id} delivery={found} />}
      </Result>
    </>
  );
}

function Attempt({ delivery }: { delivery: DeliveryDetail }) {
  const { request, response } = delivery;
  return (
    <>
      <p class="summary">
        <DeliveryStatus status={delivery.status} /> {outcomeOf(delivery)}
      </p>
      <Facts delivery={delivery} />
      <Actions delivery={delivery} />
      <div class="two">
        <section aria-labelledby="request">
          <h2 id="request">{TEXT.delivery.request}</h2>
          {request ? <Message {...request} /> : <p class="muted">{TEXT.delivery.notSent}</p>}
          {request && <HeadersExplained />}
        </section>
        <section aria-labelledby="response">
          <h2 id="response">{TEXT.delivery.response}</h2>
          {response ? (
            <Message {...response} isTruncated={response.bodyTruncated} />
          ) : (
            <p class="muted">{TEXT.delivery.none}</p>
          )}
        </section>
      </div>
    </>
  );
}

function Facts({ delivery }: { delivery: DeliveryDetail }) {
  const times = [
    [TEXT.delivery.scheduled, delivery.scheduledAt],
    [TEXT.delivery.attempted, delivery.attemptedAt],
    [TEXT.delivery.completed, delivery.completedAt],
    [TEXT.delivery.next, delivery.nextAttemptAt],
  ] as const;
  return (
    <dl class="facts">
      <dt>{TEXT.log.columns.event}</dt>
      <dd>
        <Link href={encoded`/events/${delivery.eventId}`}>{plainOf(delivery.event)}</Link>
      </dd>
      <dt>{TEXT.log.columns.to}</dt>
      <dd class="url">
        <Link href={encoded`/webhooks/${delivery.webhookId}`}>{plainOf(delivery.url)}</Link>
      </dd>
      <dt>{TEXT.log.columns.attempt}</dt>
      <dd class="number">
        {delivery.attempt} · {delivery.trigger}
      </dd>
      {times.map(
        ([name, at]) =>
          at && (
            <>
              <dt>{name}</dt>
              <dd>
                <At at={at} />
              </dd>
            </>
          ),
      )}
      <dt>id</dt>
      <dd class="url">{delivery.id}</dd>
    </dl>
  );
}

function Actions({ delivery: { id, webhookId, eventId, url, status, request } }: { delivery: DeliveryDetail }) {
  const { api, may } = useSigned();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const path = encoded`webhooks/${webhookId}/deliveries/${id}/redeliver`;
  const again = useMutation({
    mutationFn: () => api.send<Delivery>('POST', path),
    onSuccess: async (next) => {
      await queries.invalidateQueries();
      go(encoded`/deliveries/${next.id}`);
    },
  });
  const isInTheWay = again.error instanceof CallError && again.error.code === 'delivery_pending';
  return (
    <>
      <div class="actions">
        <button
          type="button"
          class="button main"
          disabled={!may('webhooks:write') || again.isPending}
          onClick={() => again.mutate()}
        >
          {status === 'pending' ? TEXT.delivery.sendNow : TEXT.delivery.redeliver}
        </button>
        {!may('webhooks:write') && <span class="muted small">{TEXT.lacks('webhooks:write')}</span>}
        {request && (
          <>
            <CopyButton label={TEXT.delivery.curl} text={curlOf(url, request)} />
            <CopyButton label={TEXT.delivery.curlLocal} text={curlOf(localUrlOf(url), request)} />
            <CopyButton label={TEXT.delivery.rawHttp} text={rawOf(url, request)} />
          </>
        )}
      </div>
      {again.isError && <Problem error={again.error} />}
      {isInTheWay && (
        <p>
          <Link href={encoded`/events/${eventId}`}>{TEXT.delivery.story}</Link>
        </p>
      )}
      <ApiCall method="POST" path={path} />
    </>
  );
}

const HeadersExplained = () => (
  <details>
    <summary>{TEXT.delivery.headers}</summary>
    <dl class="headers">
      {Object.entries(TEXT.headers).map(([name, meaning]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  </details>
);
