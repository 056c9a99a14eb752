import { type Api, type CreatedWebhook, dataOf, type Delivery, pageOf, type PublishedEvent } from '../../support/api';
import type { Hook } from '../../support/receiver';
import { waitFor } from '../../support/wait-for';
import { type EventName, EXAMPLES } from './examples';

/** Registers the hook for the events. */
export function subscribe(
  api: Api,
  hook: Pick<Hook, 'url'>,
  events: readonly string[],
  more: Record<string, unknown> = {},
): Promise<CreatedWebhook> {
  return dataOf(api.createWebhook({ url: hook.url, events, ...more }), 201);
}

/** Publishes the event, with its example data unless other data are given. */
export function publish(api: Api, event: EventName, more: Record<string, unknown> = {}): Promise<PublishedEvent> {
  return dataOf(api.publish({ event, data: EXAMPLES[event], ...more }), 202);
}

/** The webhook's log, oldest first, as soon as there is at least one row and none is pending. */
export function settledDeliveries(
  api: Api,
  webhook: { id: string },
  event: { id: string },
  what = 'the last attempt',
): Promise<Delivery[]> {
  return waitFor(
    async () => {
      const rows = await deliveriesOf(api, webhook, event);
      return rows.length > 0 && rows.every(({ status }) => status !== 'pending') && rows;
    },
    { what: `${what} of event ${event.id}` },
  );
}

/** The webhook's log of one event as it is now, oldest first. */
export async function deliveriesOf(api: Api, webhook: { id: string }, event: { id: string }): Promise<Delivery[]> {
  const { rows } = await pageOf(api.listDeliveries(webhook.id, { eventId: event.id, limit: 250 }));
  return rows.reverse();
}

/** Waits until the service has decided who gets the event. */
export async function fannedOut(api: Api, event: { id: string }): Promise<void> {
  const what = `the fan-out of event ${event.id}`;
  await waitFor(async () => (await dataOf(api.readEvent(event.id))).fannedOutAt !== null, { what });
}

/** Deletes all webhooks of the user, so that the next test's events do not reach them. */
export async function deleteWebhooks(api: Api): Promise<void> {
  const { rows } = await pageOf(api.listWebhooks({ limit: 250 }));
  for (const { id } of rows) await dataOf(api.deleteWebhook(id));
}
