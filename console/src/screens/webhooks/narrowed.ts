import type { Webhook } from '../../api/types';
import { covers } from '../../parts/event-names';
import { type Health, HEALTHS, rankOf } from '../../parts/health-rank';
import { shareOf } from '../../parts/numbers';
import { nameOf } from '../../parts/webhook-name';

export const SORTS = ['health', 'name', 'delivered', 'newest', 'last'] as const;
export type Sort = (typeof SORTS)[number];
export const isSort = (text: string): text is Sort => (SORTS as readonly string[]).includes(text);

export interface Wanted {
  /** A part of the description, url, external id or id, in any case. */
  q: string;
  health: Health | 'all';
  /** The name of an event that reaches the webhook; empty: any. */
  event: string;
  /** A name and value of the metadata, such as `team=billing`; empty: any. */
  label: string;
  sort: Sort;
}

/** The webhooks that are wanted, in the wanted order; those that are alike in it by name. */
export function narrowed(rows: readonly Webhook[], { q, health, event, label, sort }: Wanted): Webhook[] {
  const text = q.trim().toLowerCase();
  return rows
    .filter(
      (row) =>
        textsOf(row).some((each) => each.toLowerCase().includes(text)) &&
        (health === 'all' || row.stats?.health === health) &&
        (event === '' || row.events.some((pattern) => covers(pattern, event))) &&
        (label === '' || Object.entries(row.metadata).some((pair) => pair.join('=') === label)),
    )
    .sort((a, b) => ORDERS[sort](a, b) || byName(a, b));
}

/** How many there are of each health, and of all. */
export function countsOf(rows: readonly Webhook[]): Record<Health | 'all', number> {
  const of = (health: Health): number => rows.filter(({ stats }) => stats?.health === health).length;
  return {
    all: rows.length,
    ...(Object.fromEntries(HEALTHS.map((each) => [each, of(each)])) as Record<Health, number>),
  };
}

const textsOf = (webhook: Webhook): string[] => {
  const { description, url, externalId, id } = webhook;
  return [description ?? '', url ?? nameOf(webhook), externalId ?? '', id];
};

const byName = (a: Webhook, b: Webhook): number => nameOf(a).localeCompare(nameOf(b), 'en');

const ORDERS: Record<Sort, (a: Webhook, b: Webhook) => number> = {
  health: (a, b) => rankOf(a) - rankOf(b),
  name: byName,
  // Who made no attempt comes last.
  delivered: (a, b) => shareFrom(a) - shareFrom(b),
  newest: (a, b) => (a.createdAt < b.createdAt ? 1 : -1),
  last: (a, b) => (b.lastSuccessAt ?? '').localeCompare(a.lastSuccessAt ?? ''),
};

const shareFrom = ({ stats }: Webhook): number => (stats && shareOf(stats.totals)) ?? Infinity;
