import { useQuery } from '@tanstack/preact-query';
import { encoded } from '../api/address';
import { useSigned } from '../api/signed';
import type { Delivery, DeliveryDetail } from '../api/types';

/** As long as an attempt waits, it is read again. */
const EVERY_MS = 2000;
const MOST = 250;

/** One attempt, with its request and response. */
export function useDelivery(id: string) {
  const { api } = useSigned();
  return useQuery({
    queryKey: ['delivery', id],
    queryFn: ({ signal }) => api.get<DeliveryDetail>(encoded`deliveries/${id}`, {}, signal),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? EVERY_MS : false),
  });
}

/** All attempts of the same event at the same webhook, the first one first. */
export function useAttempts({ webhookId, eventId }: Pick<Delivery, 'webhookId' | 'eventId'>) {
  const { api } = useSigned();
  return useQuery({
    queryKey: ['attempts', webhookId, eventId],
    queryFn: async ({ signal }) => {
      const path = encoded`webhooks/${webhookId}/deliveries`;
      const { rows } = await api.page<Delivery>(path, { eventId, limit: MOST }, { signal });
      return rows.reverse();
    },
    refetchInterval: ({ state }) => (state.data?.at(-1)?.status === 'pending' ? EVERY_MS : false),
  });
}
