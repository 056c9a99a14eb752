import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useAbout } from '../../api/queries';
import type { Webhook } from '../../api/types';
import { ChartCard } from '../../parts/chart-card';
import { countText, msText, shareOf, shareText } from '../../parts/numbers';
import type { Span } from '../../parts/spans';
import { Tile, Tiles } from '../../parts/tile';
import { Ago, dateOf, lengthOf, useNow, useUtc } from '../../parts/time';
import { useStats } from '../../parts/use-stats';
import { isPull } from '../../parts/webhook-kind';
import { TEXT } from '../../text/en';
import { Consumers } from './consumers';
import { Errors } from './errors';

/** Figures, chart, reasons of failures and settings of a webhook. */
export function WebhookOverview({ webhook }: { webhook: Webhook }) {
  const [span, setSpan] = useState<Span>('24 h');
  const totals = useStats(span, { webhookId: webhook.id }).data?.totals;
  return (
    <>
      <Figures webhook={webhook} />
      {isPull(webhook) && <Consumers webhook={webhook} />}
      <ChartCard span={span} onSpan={setSpan} webhookId={webhook.id} />
      <div class="sides">
        <section class="card" aria-labelledby="why-failed">
          <h2 id="why-failed" class="unseen">
            {TEXT.webhook.whyFailed}
          </h2>
          {totals && <Errors counts={totals.byError} webhook={webhook} />}
        </section>
        <Settings webhook={webhook} />
      </div>
    </>
  );
}

function Figures({ webhook }: { webhook: Webhook }) {
  const { consecutiveFailures, disablesAt, stats } = webhook;
  const now = useNow();
  const [isUtc] = useUtc();
  if (!stats) return null;
  const { figures } = TEXT.webhook;
  const share = shareOf(stats.totals);
  const nextInMs = stats.nextDueAt ? Date.parse(stats.nextDueAt) - now : null;
  return (
    <Tiles>
      <Tile name={figures.delivered} value={share === null ? '–' : shareText(share)} unit={share === null ? '' : '%'} />
      <Tile
        name={figures.inARow}
        value={countText(consecutiveFailures)}
        note={disablesAt && figures.disables(dateOf(disablesAt, isUtc))}
        tone="bad"
      />
      <Tile
        name={figures.waiting}
        value={countText(stats.pending, stats.pending >= 1000)}
        note={nextInMs !== null && TEXT.overview.figures.next(nextInMs > 0 ? lengthOf(nextInMs) : null)}
      />
      <Tile
        name={isPull(webhook) ? TEXT.pull.p95 : figures.p95}
        value={msText(stats.totals.p95Ms)}
        note={stats.totals.p50Ms !== null && figures.p50(msText(stats.totals.p50Ms))}
      />
    </Tiles>
  );
}

function Settings({ webhook }: { webhook: Webhook }) {
  const about = useAbout();
  const names = TEXT.webhook.settingNames;
  const { events, filter, format, fields, headers, maxPerSecond, secretRotatedAt, createdAt } = webhook;
  const delays = webhook.retryDelaysMs?.slice(0, about?.maxRetries) ?? about?.retryDelaysMs ?? [];
  const headerNames = Object.keys(headers);
  return (
    <section class="card settings" aria-labelledby="settings">
      <h2 id="settings">{TEXT.webhook.settings}</h2>
      <dl class="facts">
        <dt>{names.events}</dt>
        <dd class="url">{events.join(', ')}</dd>
        <dt>{names.retries}</dt>
        <dd>{TEXT.webhook.retries(delays.length, delays.map(lengthOf).join(', '))}</dd>
        {!isPull(webhook) && (
          <>
            <dt>{names.rate}</dt>
            <dd>{maxPerSecond === null ? TEXT.webhook.none : TEXT.webhook.rate(maxPerSecond)}</dd>
          </>
        )}
        <dt>{names.filter}</dt>
        <dd class="url">{filter === null ? TEXT.webhook.none : Object.keys(filter).join(', ')}</dd>
        {!isPull(webhook) && (
          <>
            <dt>{names.headers}</dt>
            <dd class="url">{headerNames.length === 0 ? TEXT.webhook.none : headerNames.join(', ')}</dd>
          </>
        )}
        {format !== 'native' && (
          <>
            <dt>{names.format}</dt>
            <dd>{format}</dd>
          </>
        )}
        {fields && (
          <>
            <dt>{names.fields}</dt>
            <dd class="url">{fields.length === 0 ? TEXT.webhook.none : fields.join(', ')}</dd>
          </>
        )}
        <dt>{names.secret}</dt>
        <dd>
          {secretRotatedAt ? (
            <>
              {TEXT.webhook.rotated} <Ago at={secretRotatedAt} />
            </>
          ) : (
            TEXT.webhook.neverRotated
          )}
        </dd>
        <dt>{names.created}</dt>
        <dd>
          <Ago at={createdAt} />
        </dd>
      </dl>
      <Link class="button small" href={encoded`/webhooks/${webhook.id}/settings`}>
        {TEXT.webhook.edit}
      </Link>
    </section>
  );
}
