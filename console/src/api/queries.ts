import { useQuery } from '@tanstack/preact-query';
import { useSigned } from './signed';
import type { About, EventType, Page, Webhook } from './types';

/** How the service is set. */
export function useAbout(): About | undefined {
  const { api } = useSigned();
  return useQuery({ queryKey: ['about'], queryFn: () => api.get<About>('about'), staleTime: 300_000 }).data;
}

/** What can be published and subscribed to. */
export function useEventTypes() {
  const { api } = useSigned();
  return useQuery({ queryKey: ['event-types'], queryFn: () => api.get<EventType[]>('event-types'), staleTime: 60_000 });
}

/** The webhooks of this user, up to 250. */
export function useWebhooks() {
  const { api } = useSigned();
  return useQuery({
    queryKey: ['webhooks', 'names'],
    queryFn: ({ signal }): Promise<Page<Webhook>> => api.page('webhooks', { limit: 250 }, { signal }),
    staleTime: 30_000,
  });
}
