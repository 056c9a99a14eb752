import type { Delivery, EventStory, Webhook } from '../../api/types';
import { type Outcome, outcomeOf } from '../../parts/outcome';

/** The attempts of an event at one webhook, the first one first. */
export type Lane = [Delivery, ...Delivery[]];

const WORST_FIRST: Outcome[] = ['gave_up', 'failed', 'retrying', 'canceled', 'waiting', 'delivered'];

export const lastOf = (lane: Lane): Delivery => lane.at(-1) ?? lane[0];

/** Returns the attempts by webhook, failing webhooks first, each in the order of time. */
export function lanesOf(deliveries: readonly Delivery[]): Lane[] {
  const lanes = new Map<string, Lane>();
  for (const delivery of [...deliveries].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const lane = lanes.get(delivery.webhookId);
    if (lane) lane.push(delivery);
    else lanes.set(delivery.webhookId, [delivery]);
  }
  const rankOf = (lane: Lane) => WORST_FIRST.indexOf(outcomeOf(lastOf(lane)));
  return [...lanes.values()].sort((a, b) => rankOf(a) - rankOf(b));
}

/** Why an event was not sent to a webhook. */
export type Absence = 'created_later' | 'not_subscribed' | 'disabled' | 'filtered' | 'changed';

/** Returns why an event has no delivery to a webhook, as far as the webhook of now tells. */
export function absenceOf(
  { events, createdAt, active, filter }: Pick<Webhook, 'events' | 'createdAt' | 'active' | 'filter'>,
  event: Pick<EventStory, 'event' | 'createdAt'>,
): Absence {
  if (createdAt > event.createdAt) return 'created_later';
  if (!events.some((pattern) => covers(pattern, event.event))) return 'not_subscribed';
  if (!active) return 'disabled';
  return filter ? 'filtered' : 'changed';
}

const covers = (pattern: string, event: string): boolean =>
  pattern === '*' || pattern === event || (pattern.endsWith('.*') && event.startsWith(pattern.slice(0, -1)));
