import { Link } from 'wouter-preact';
import { encoded } from '../api/address';
import type { Webhook } from '../api/types';
import { TEXT } from '../text/en';
import { Bars } from './bars';
import { HealthPill } from './health';
import { msText } from './numbers';
import { plainOf } from './plain';
import { Share } from './share';
import { Ago } from './time';
import { nameOf } from './webhook-name';

const { columns } = TEXT.webhooks;

/** A table of webhooks: name, health and figures of the last day. On a phone each row is a card. */
export const WebhookTable = ({ rows }: { rows: readonly Webhook[] }) => (
  <div class="card scrolls">
    <table class="data webhook-table">
      <thead>
        <tr>
          <th scope="col">{columns.webhook}</th>
          <th scope="col">{columns.health}</th>
          <th scope="col">{columns.delivered}</th>
          <th scope="col" class="hide">
            {columns.day}
          </th>
          <th scope="col" class="end">
            {columns.p95}
          </th>
          <th scope="col" class="end">
            {columns.lastDelivered}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((webhook) => (
          <Row key={webhook.id} webhook={webhook} />
        ))}
      </tbody>
    </table>
  </div>
);

function Row({ webhook }: { webhook: Webhook }) {
  const { id, url, stats, lastSuccessAt } = webhook;
  const hasTraffic = stats !== undefined && stats.totals.succeeded + stats.totals.failed > 0;
  return (
    <tr>
      <td class="first">
        <Link class="name" href={encoded`/webhooks/${id}`}>
          {nameOf(webhook)}
        </Link>
        <span class="sub url">{url === null ? TEXT.pull.kind : plainOf(url)}</span>
      </td>
      <td>
        <HealthPill webhook={webhook} />
      </td>
      <td>{stats && <Share of={stats.totals} />}</td>
      <td class="hide">
        {hasTraffic ? <Bars steps={stats.steps} label={TEXT.webhooks.lastDay} /> : <span class="muted">–</span>}
      </td>
      <td class="end number">
        <span class="on-card">{columns.p95} </span>
        {msText(stats?.totals.p95Ms ?? null)}
      </td>
      <td class="end">
        <span class="on-card">{columns.lastDelivered} </span>
        <Ago at={lastSuccessAt} none={TEXT.webhook.never} />
      </td>
    </tr>
  );
}
