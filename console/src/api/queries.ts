import { useQuery } from '@tanstack/preact-query';
import { ABOUT_KEY } from './client';
import { useSigned } from './signed';
import type { About, EventType, Page, Webhook } from './types';

const ABOUT_EVERY_MS = 300_000;

/** How the service is set, and which version it is. */
export function useAboutQuery() {
  const { api } = useSigned();
  return useQuery({
    queryKey: ABOUT_KEY,
    queryFn: ({ signal }) => api.get<About>('about', {}, signal),
    staleTime: ABOUT_EVERY_MS,
    refetchInterval: ABOUT_EVERY_MS,
  });
}

export const useAbout = (): About | undefined => useAboutQuery().data;

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
