import { useQuery } from '@tanstack/preact-query';
import { Link, useSearchParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useAbout } from '../api/queries';
import { canVerify, type ReceivedRequest } from '../api/signature';
import { useSigned } from '../api/signed';
import type { DeliveryDetail } from '../api/types';
import { CopyButton } from '../parts/copy';
import { Heading } from '../parts/heading';
import { plainOf } from '../parts/plain';
import { Result } from '../parts/result';
import { destinationOf } from '../parts/webhook-name';
import { TEXT } from '../text/en';
import { VerifyForm } from './verify/form';
import { headerLines, parseHeaders } from './verify/saved-request';

const { verify } = TEXT;

/** Why a signature does not match, computed in the page. A delivery in the address fills in what was sent. */
export function VerifyScreen() {
  const [search] = useSearchParams();
  const id = search.get('delivery');
  return (
    <>
      <Heading title={verify.title} />
      {!canVerify() && <Insecure />}
      {id === null && <p class="muted">{verify.says}</p>}
      {id === null ? <VerifyForm sent={null} /> : <OfDelivery id={id} key={id} />}
    </>
  );
}

const Insecure = () => (
  <div class="notice calm message">
    <p>{verify.insecure}</p>
    <pre tabIndex={0}>{verify.command}</pre>
    <CopyButton text={verify.command} />
  </div>
);

function OfDelivery({ id }: { id: string }) {
  const { api } = useSigned();
  const about = useAbout();
  const delivery = useQuery({
    queryKey: ['delivery', id],
    queryFn: ({ signal }) => api.get<DeliveryDetail>(encoded`deliveries/${id}`, {}, signal),
    // A request that was sent stays as it is.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  return (
    <Result of={delivery} what={TEXT.delivery.title} lines={8} missing={TEXT.keptFor(about?.retentionDays)}>
      {(found) => (
        <>
          <p class="about">
            <Link href={encoded`/deliveries/${found.id}`}>{verify.back}</Link>
            <span class="muted">
              {plainOf(found.event)} · <span class="url">{destinationOf(found)}</span>
            </span>
          </p>
          <p class={found.request ? 'muted' : 'notice'}>{found.request ? verify.fromDelivery : verify.notSent}</p>
          <VerifyForm sent={sentOf(found)} />
        </>
      )}
    </Result>
  );
}

const sentOf = ({ request }: DeliveryDetail): ReceivedRequest | null =>
  request && {
    headers: parseHeaders(headerLines(request.headers)).headers,
    body: new TextEncoder().encode(request.body),
  };
