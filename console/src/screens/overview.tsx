import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { encoded } from '../api/address';
import { useAbout } from '../api/queries';
import { useSigned } from '../api/signed';
import type { Webhook } from '../api/types';
import { Bars } from '../parts/bars';
import { covers } from '../parts/event-names';
import { Heading } from '../parts/heading';
import { Pages } from '../parts/pages';
import { plainOf } from '../parts/plain';
import { Problem } from '../parts/problem';
import { WebhookState } from '../parts/status';
import { Ago } from '../parts/time';
import { useTryNow } from '../parts/use-try-now';
import { TEXT } from '../text/en';

const EVERY_MS = 15_000;
const PAGE = 100;

/** Is it arriving? One row for each webhook, and on top what needs a hand. */
export const OverviewScreen = () => (
  <>
    <Heading title={TEXT.overview.title}>
      <Link class="button main" href="/webhooks/new">
        {TEXT.overview.create}
      </Link>
    </Heading>
    <Pages<Webhook>
      path="webhooks"
      query={{ include: 'stats' }}
      size={PAGE}
      everyMs={EVERY_MS}
      what={TEXT.overview.title}
      empty={<Empty />}
    >
      {(rows) => (
        <>
          <NeedsAHand rows={rows} />
          <ul class="webhooks">
            {rows.map((webhook) => (
              <li key={webhook.id}>
                <Row webhook={webhook} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Pages>
  </>
);

function Empty() {
  const { may } = useSigned();
  const about = useAbout();
  const tryNow = useTryNow();
  const lacking = (['webhooks:write', 'events:publish'] as const).find((scope) => !may(scope));
  return (
    <section class="empty">
      <h2>{TEXT.overview.empty}</h2>
      <p>{TEXT.overview.emptySays}</p>
      {about?.tryReceiver && (
        <>
          <button
            type="button"
            class="button main"
            disabled={lacking !== undefined || tryNow.isPending}
            onClick={() => tryNow.mutate()}
          >
            {TEXT.overview.tryNow}
          </button>
          <p class="muted small">{lacking ? TEXT.lacks(lacking) : TEXT.overview.tryNowSays}</p>
          {tryNow.isError && <Problem error={tryNow.error} />}
        </>
      )}
    </section>
  );
}

const FAILURE = 'webhook.disabled';

/** Only what somebody should do something about; nothing when all is well. */
function NeedsAHand({ rows }: { rows: readonly Webhook[] }) {
  const about = useAbout();
  const disabled = rows.filter(({ disabledReason }) => disabledReason !== null);
  const [first] = disabled;
  const waiting = rows.reduce((sum, { stats }) => sum + (stats?.pending ?? 0), 0);
  const isTold = rows.some(({ active, events }) => active && events.some((each) => covers(each, FAILURE)));
  return (
    <div class="hands">
      {first && (
        <p class="notice bad" role="status">
          {TEXT.overview.disabled(disabled.length)}{' '}
          <Link href={encoded`/webhooks/${first.id}/repair`}>{TEXT.overview.repair}</Link>
        </p>
      )}
      {waiting > 0 && (
        <p class="notice calm">
          <Link href="/deliveries?status=pending">{TEXT.overview.waiting(waiting)}</Link>
        </p>
      )}
      {!isTold && (about?.disableAfterFailures ?? 0) > 0 && (
        <p class="notice calm">
          {TEXT.overview.notNotified}{' '}
          <Link href={encoded`/webhooks/new?events=${'webhook.*'}`}>{TEXT.overview.tellMe}</Link>
        </p>
      )}
    </div>
  );
}

function Row({ webhook }: { webhook: Webhook }) {
  const { stats, consecutiveFailures } = webhook;
  const limit = useAbout()?.disableAfterFailures ?? 0;
  return (
    <article class="webhook">
      <div class="who">
        <Link href={encoded`/webhooks/${webhook.id}`} class="url">
          {plainOf(webhook.url)}
        </Link>
        <p class="muted small">
          <WebhookState webhook={webhook} />
          <span class="url">{webhook.events.join(', ')}</span>
          {consecutiveFailures > 0 && limit > 0 && <span>{TEXT.overview.inARow(consecutiveFailures, limit)}</span>}
          {!webhook.active && <Link href={encoded`/webhooks/${webhook.id}/repair`}>{TEXT.overview.fix}</Link>}
        </p>
      </div>
      {stats && (
        <>
          <Bars steps={stats.steps} label={TEXT.overview.lastDay} />
          <dl class="figures">
            <Figure name={TEXT.overview.delivered}>{shareOf(stats.totals)}</Figure>
            <Figure name="p95">{stats.totals.p95Ms === null ? '–' : `${stats.totals.p95Ms} ms`}</Figure>
            <Figure name={TEXT.overview.lastDelivery}>
              <Ago at={stats.lastDeliveryAt} />
            </Figure>
          </dl>
        </>
      )}
    </article>
  );
}

/** How many of the attempts arrived. Not 100 % as long as one did not. */
function shareOf({ succeeded, failed }: { succeeded: number; failed: number }): string {
  const made = succeeded + failed;
  if (made === 0) return '–';
  return failed === 0 ? '100 %' : `${(Math.floor((1000 * succeeded) / made) / 10).toFixed(1)} %`;
}

const Figure = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd class="number">{children}</dd>
  </div>
);
