import type { Delivery, EventStory, Webhook } from '../../api/types';
import { covers } from '../../parts/event-names';
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
export type Absence = 'created_later' | 'not_subscribed' | 'about_itself' | 'disabled' | 'filtered' | 'changed';

/** Returns why an event has no delivery to a webhook, as far as the webhook of now tells. */
export function absenceOf(
  { id, events, createdAt, active, filter }: Pick<Webhook, 'id' | 'events' | 'createdAt' | 'active' | 'filter'>,
  event: Pick<EventStory, 'event' | 'createdAt' | 'data'>,
): Absence {
  if (createdAt > event.createdAt) return 'created_later';
  if (!events.some((pattern) => covers(pattern, event.event))) return 'not_subscribed';
  if (event.event.startsWith('webhook.') && event.data.webhookId === id) return 'about_itself';
  if (!active) return 'disabled';
  return filter ? 'filtered' : 'changed';
}
