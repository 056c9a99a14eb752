import { Link, useLocation, useParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useAbout, useWebhooks } from '../api/queries';
import type { DeliveryDetail } from '../api/types';
import { ApiCall } from '../parts/api-call';
import { CopyButton } from '../parts/copy';
import { curlOf, localUrlOf, rawOf } from '../parts/curl';
import { resultOf } from '../parts/delivery-rows';
import { prefixed } from '../parts/header-prefix';
import { Heading } from '../parts/heading';
import { lastList } from '../parts/last-list';
import { Message } from '../parts/message';
import { plainOf } from '../parts/plain';
import { canRedeliver, RedeliverButton, redeliverPath } from '../parts/redeliver';
import { Result } from '../parts/result';
import { DeliveryStatus } from '../parts/status';
import { At } from '../parts/time';
import { Timeline } from '../parts/timeline';
import { useAttempts, useDelivery } from '../parts/use-attempts';
import { destinationOf, nameOf } from '../parts/webhook-name';
import { TEXT } from '../text/en';

/** One attempt: what happened in a sentence, then exactly what was sent and what came back. */
export function DeliveryScreen() {
  const about = useAbout();
  const { id = '' } = useParams();
  const delivery = useDelivery(id);
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
  const attempts = useAttempts(delivery);
  return (
    <>
      <p class="summary">
        <DeliveryStatus of={delivery} /> {resultOf(delivery)}
      </p>
      <Actions delivery={delivery} />
      <div class="two">
        <Facts delivery={delivery} />
        <section aria-label={TEXT.delivery.attempts}>
          <Timeline attempts={attempts.data ?? [delivery]} shown={delivery.id} />
        </section>
      </div>
      <Exchange delivery={delivery} />
    </>
  );
}

/** What was sent and what came back; of a pull webhook, what a consumer leased. */
function Exchange({ delivery: { request, response, url } }: { delivery: DeliveryDetail }) {
  const isPull = url === null;
  return (
    <div class="two">
      <section aria-labelledby="request">
        <h2 id="request">{!isPull ? TEXT.delivery.request : request ? TEXT.pull.message : TEXT.pull.lease}</h2>
        {request ? (
          <Message {...request} />
        ) : (
          <p class="muted">{isPull ? TEXT.pull.notLeased : TEXT.delivery.notSent}</p>
        )}
        {request && <HeadersExplained />}
      </section>
      {!isPull && (
        <section aria-labelledby="response">
          <h2 id="response">{TEXT.delivery.response}</h2>
          {response ? (
            <Message {...response} isTruncated={response.bodyTruncated} />
          ) : (
            <p class="muted">{TEXT.delivery.none}</p>
          )}
        </section>
      )}
    </div>
  );
}

function Facts({ delivery }: { delivery: DeliveryDetail }) {
  const webhook = useWebhooks().data?.rows.find(({ id }) => id === delivery.webhookId);
  const times = [
    [TEXT.delivery.scheduled, delivery.scheduledAt],
    [delivery.url === null ? TEXT.pull.leasedAt : TEXT.delivery.attempted, delivery.attemptedAt],
    [TEXT.delivery.completed, delivery.completedAt],
    [TEXT.delivery.next, delivery.nextAttemptAt],
  ] as const;
  return (
    <dl class="facts">
      <dt>{TEXT.log.columns.event}</dt>
      <dd>
        <Link href={encoded`/events/${delivery.eventId}`}>{plainOf(delivery.event)}</Link>
      </dd>
      {delivery.subject !== null && (
        <>
          <dt>{TEXT.log.columns.subject}</dt>
          <dd>
            <Link href={encoded`/deliveries?subject=${delivery.subject}`}>{plainOf(delivery.subject)}</Link>
          </dd>
        </>
      )}
      <dt>{TEXT.log.columns.to}</dt>
      <dd class={delivery.url === null ? '' : 'url'}>
        <Link href={encoded`/webhooks/${delivery.webhookId}`}>
          {delivery.url === null && webhook ? nameOf(webhook) : destinationOf(delivery)}
        </Link>
      </dd>
      <dt>{TEXT.log.columns.attempt}</dt>
      <dd class="number">
        {delivery.attempt} · {TEXT.triggers[delivery.trigger]}
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

function Actions({ delivery }: { delivery: DeliveryDetail }) {
  const [, go] = useLocation();
  const { url, request } = delivery;
  return (
    <>
      <div class="actions">
        <RedeliverButton of={delivery} isMain onSent={({ id }) => go(encoded`/deliveries/${id}`)} />
        {request && (
          <>
            {url !== null && <CopyButton label={TEXT.delivery.curl} text={curlOf(url, request)} />}
            <CopyButton label={TEXT.delivery.curlLocal} text={curlOf(localUrlOf(url), request)} />
            {url !== null && <CopyButton label={TEXT.delivery.rawHttp} text={rawOf(url, request)} />}
            <Link class="button quiet" href={encoded`/verify?delivery=${delivery.id}`}>
              {TEXT.verify.link}
            </Link>
          </>
        )}
      </div>
      {canRedeliver(delivery) && <ApiCall method="POST" path={redeliverPath(delivery)} />}
    </>
  );
}

function HeadersExplained() {
  const [prefix] = useAbout()?.headerPrefixes ?? [];
  return (
    <details>
      <summary>{TEXT.delivery.headers}</summary>
      <dl class="headers">
        {Object.entries(TEXT.headers).map(([name, meaning]) => (
          <div key={name}>
            <dt>{prefixed(name, prefix)}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
