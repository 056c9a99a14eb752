import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useLocation } from 'wouter-preact';
import { encoded } from '../api/address';
import { useSigned } from '../api/signed';
import type { CreatedWebhook, EventRow, EventType, TryReceiver } from '../api/types';
import { TEXT } from '../text/en';

const EVENT = 'follower.gained';

/** By url: the secrets of webhooks that this page has made, so that a receiver to try with can verify. Dies with the page. */
export const secretsOfReceivers = new Map<string, string>();

/** Makes a webhook to the receiver inside this service, publishes an example, and shows its story. */
export function useTryNow() {
  const { api, session } = useSigned();
  const [, go] = useLocation();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const { url } = await api.send<TryReceiver>('POST', 'try-receivers');
      const webhook = { url, events: [EVENT], description: TEXT.receiver.title };
      const { secret } = await api.send<CreatedWebhook>('POST', 'webhooks', webhook);
      secretsOfReceivers.set(url, secret);
      const types = await api.get<EventType[]>('event-types');
      const data = types.find(({ name }) => name === EVENT)?.example ?? {};
      return api.send<Pick<EventRow, 'id'>>('POST', 'events', { event: EVENT, userId: session.userId, data });
    },
    onSuccess: ({ id }) => {
      void queries.invalidateQueries();
      go(encoded`/events/${id}`);
    },
  });
}
