import { Maximize2, X } from 'lucide-preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useAbout } from '../../api/queries';
import type { DeliveryDetail } from '../../api/types';
import { CopyButton } from '../../parts/copy';
import { curlOf, localUrlOf } from '../../parts/curl';
import { resultOf } from '../../parts/delivery-rows';
import { Icon } from '../../parts/icon';
import { Body, HeaderList } from '../../parts/message';
import { plainOf } from '../../parts/plain';
import { RedeliverButton } from '../../parts/redeliver';
import { Result } from '../../parts/result';
import { Segmented } from '../../parts/segmented';
import { DeliveryStatus } from '../../parts/status';
import { Timeline } from '../../parts/timeline';
import { useAttempts, useDelivery } from '../../parts/use-attempts';
import { TEXT } from '../../text/en';

/** One attempt beside the list: what happened, all attempts of its event, and what was sent and answered. */
export function Drawer({
  id,
  takesFocus,
  onOpen,
  onClose,
}: {
  id: string;
  /** False while a person goes through the list with a key. */
  takesFocus: boolean;
  onOpen: (id: string) => void;
  onClose: () => void;
}) {
  const about = useAbout();
  const delivery = useDelivery(id);
  return (
    <aside class="card drawer" aria-label={TEXT.delivery.title}>
      <button type="button" class="button quiet close" aria-label={TEXT.close} onClick={onClose}>
        <Icon of={X} />
      </button>
      <Result of={delivery} what={TEXT.delivery.title} lines={6} missing={TEXT.keptFor(about?.retentionDays)}>
        {(found) => <Content key={found.id} delivery={found} takesFocus={takesFocus} onOpen={onOpen} />}
      </Result>
    </aside>
  );
}

function Content({
  delivery,
  takesFocus,
  onOpen,
}: {
  delivery: DeliveryDetail;
  takesFocus: boolean;
  onOpen: (id: string) => void;
}) {
  const attempts = useAttempts(delivery);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (takesFocus) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <>
      <header>
        <DeliveryStatus of={delivery} />
        <h2 class="code" tabIndex={-1} ref={heading}>
          {plainOf(delivery.event)}
        </h2>
        <RedeliverButton of={delivery} onSent={({ id }) => onOpen(id)} />
        <Link
          class="button quiet"
          href={encoded`/deliveries/${delivery.id}`}
          aria-label={TEXT.delivery.openPage}
          title={TEXT.delivery.openPage}
        >
          <Icon of={Maximize2} />
        </Link>
      </header>
      {delivery.subject !== null && <p class="muted small">{plainOf(delivery.subject)}</p>}
      {delivery.status !== 'succeeded' && (
        <p class={`notice ${delivery.status === 'failed' ? '' : 'calm'}`}>{resultOf(delivery)}</p>
      )}
      <Timeline attempts={attempts.data ?? [delivery]} shown={delivery.id} onShow={onOpen} />
      <Exchange delivery={delivery} />
      <p class="small">
        <Link href={encoded`/events/${delivery.eventId}`}>{TEXT.delivery.allWebhooks}</Link>
      </p>
    </>
  );
}

const TABS = ['request', 'response', 'headers', 'curl'] as const;
type Tab = (typeof TABS)[number];
const PULL_TABS = [
  ['request', TEXT.pull.tab],
  ['headers', TEXT.delivery.names.headers],
  ['curl', TEXT.delivery.names.curl],
] as const;

function Exchange({ delivery: { request, response, url } }: { delivery: DeliveryDetail }) {
  const [tab, setTab] = useState<Tab>(response ? 'response' : 'request');
  const { names } = TEXT.delivery;
  const tabs = url === null ? PULL_TABS : TABS.map((each) => [each, names[each]] as const);
  return (
    <div class="message">
      <Segmented name={TEXT.delivery.exchange} options={tabs} value={tab} onChange={setTab} />
      {!request ? (
        <p class="muted">{url === null ? TEXT.pull.notLeased : TEXT.delivery.notSent}</p>
      ) : tab === 'request' ? (
        <Body body={request.body} />
      ) : tab === 'curl' ? (
        <>
          <pre tabIndex={0}>{plainOf(curlOf(url ?? localUrlOf(url), request))}</pre>
          <p class="actions">
            {url !== null && <CopyButton text={curlOf(url, request)} label={TEXT.delivery.curl} />}
            <CopyButton text={curlOf(localUrlOf(url), request)} label={TEXT.delivery.curlLocal} />
          </p>
        </>
      ) : tab === 'headers' ? (
        <>
          {url !== null && <h3>{names.request}</h3>}
          <HeaderList headers={request.headers} />
          {url !== null && <ResponseHeaders of={response} />}
        </>
      ) : response ? (
        <Body body={response.body} isTruncated={response.bodyTruncated} />
      ) : (
        <p class="muted">{TEXT.delivery.none}</p>
      )}
    </div>
  );
}

const ResponseHeaders = ({ of }: { of: DeliveryDetail['response'] }) => (
  <>
    <h3>{TEXT.delivery.names.response}</h3>
    {of ? <HeaderList headers={of.headers} /> : <p class="muted">{TEXT.delivery.none}</p>}
  </>
);
