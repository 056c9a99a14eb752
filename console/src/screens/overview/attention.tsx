import { ArrowRight, BellOff, CirclePause, TriangleAlert } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useAbout } from '../../api/queries';
import type { Webhook } from '../../api/types';
import { covers } from '../../parts/event-names';
import { rankOf } from '../../parts/health-rank';
import { Icon } from '../../parts/icon';
import { clockOf, dateOf, useUtc } from '../../parts/time';
import { nameOf } from '../../parts/webhook-name';
import { TEXT } from '../../text/en';

const DISABLED = 'webhook.disabled';
const MOST = 5;

/** The webhooks that somebody should repair, a sentence each. Renders nothing when there is none. */
export function Attention({ rows }: { rows: readonly Webhook[] }) {
  const about = useAbout();
  const sick = rows
    .filter(({ active, disabledReason, stats }) => (active ? stats?.health === 'failing' : disabledReason !== null))
    .sort((a, b) => rankOf(a) - rankOf(b));
  const isTold = rows.some(({ active, events }) => active && events.some((each) => covers(each, DISABLED)));
  const isUntold = rows.length > 0 && !isTold && (about?.disableAfterFailures ?? 0) > 0;
  if (sick.length === 0 && !isUntold) return null;
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">{TEXT.overview.attention}</h2>
      <ul class="card attention">
        {sick.slice(0, MOST).map((webhook) => (
          <li key={webhook.id}>{webhook.active ? <Failing webhook={webhook} /> : <Disabled webhook={webhook} />}</li>
        ))}
        {sick.length > MOST && (
          <li class="more">
            <Link href="/webhooks">{TEXT.overview.moreAttention(sick.length - MOST)}</Link>
          </li>
        )}
        {isUntold && (
          <li>
            <span class="mark wait">
              <Icon of={BellOff} />
            </span>
            <p>{TEXT.overview.notNotified}</p>
            <Link class="button small" href={encoded`/webhooks/new?events=${'webhook.*'}`}>
              {TEXT.overview.setUpAlerts}
            </Link>
          </li>
        )}
      </ul>
    </section>
  );
}

function Failing({ webhook }: { webhook: Webhook }) {
  const { consecutiveFailures, disablesAt, stats } = webhook;
  const [isUtc] = useUtc();
  const since = stats?.failingSince ?? null;
  return (
    <>
      <span class="mark bad">
        <Icon of={TriangleAlert} />
      </span>
      <div>
        <p>
          <Name webhook={webhook} />{' '}
          {TEXT.overview.failing(since && clockOf(since, isUtc), consecutiveFailures, stats?.pending ?? 0)}
        </p>
        {disablesAt && <p class="muted small">{TEXT.overview.willBeDisabled(dateOf(disablesAt, isUtc))}</p>}
      </div>
      <Repair webhook={webhook}>{TEXT.overview.repair}</Repair>
    </>
  );
}

function Disabled({ webhook }: { webhook: Webhook }) {
  const { disabledAt, disabledReason } = webhook;
  const [isUtc] = useUtc();
  return (
    <>
      <span class="mark wait">
        <Icon of={CirclePause} />
      </span>
      <p>
        <Name webhook={webhook} /> {TEXT.overview.wasDisabled(disabledAt ? clockOf(disabledAt, isUtc) : '')}{' '}
        {disabledReason && TEXT.webhook.why[disabledReason]}
      </p>
      <Repair webhook={webhook}>{TEXT.overview.review}</Repair>
    </>
  );
}

const Name = ({ webhook }: { webhook: Webhook }) => (
  <Link class="name" href={encoded`/webhooks/${webhook.id}`}>
    {nameOf(webhook)}
  </Link>
);

const Repair = ({ webhook, children }: { webhook: Webhook; children: ComponentChildren }) => (
  <Link class="button small" href={encoded`/webhooks/${webhook.id}/repair`}>
    {children}
    <Icon of={ArrowRight} size={13} />
  </Link>
);
