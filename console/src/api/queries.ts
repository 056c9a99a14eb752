import { encoded, type Query } from './address';
import { useQuery } from '@tanstack/preact-query';
import type { Api } from './call';
import { ABOUT_KEY } from './client';
import { useSigned } from './signed';
import type { About, EventType, Webhook } from './types';

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

/** One webhook with its figures. */
export function useWebhook(id: string) {
  const { api } = useSigned();
  const include = useInclude();
  return useQuery({
    queryKey: ['webhook', id],
    queryFn: ({ signal }) => api.get<Webhook>(encoded`webhooks/${id}`, include, signal),
    refetchInterval: EVERY_MS,
  });
}

/** The console loads no more of them at once; beyond, the service searches. */
export const MOST_WEBHOOKS = 1000;
const PAGE = 250;
const EVERY_MS = 15_000;

export interface AllWebhooks {
  rows: readonly Webhook[];
  /** There are others, which were not loaded. */
  isCut: boolean;
}

async function loadWebhooks(api: Api, query: Query, signal: AbortSignal): Promise<AllWebhooks> {
  const rows: Webhook[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.page<Webhook>('webhooks', { ...query, limit: PAGE, cursor }, { signal });
    rows.push(...page.rows);
    cursor = page.nextCursor ?? undefined;
  } while (cursor && rows.length < MOST_WEBHOOKS);
  return { rows, isCut: cursor !== undefined };
}

/** The webhooks of this user, up to 1,000. */
export function useWebhooks() {
  const { api } = useSigned();
  return useQuery({
    queryKey: ['webhooks', 'names'],
    queryFn: ({ signal }) => loadWebhooks(api, {}, signal),
    staleTime: 30_000,
  });
}

/** Figures come with the webhooks where the token may read deliveries. */
function useInclude(): Query {
  return useSigned().may('deliveries:read') ? { include: 'stats' } : {};
}

/** The same with their figures. */
export function useAllWebhooks() {
  const { api } = useSigned();
  const include = useInclude();
  return useQuery({
    queryKey: ['webhooks', 'all'],
    queryFn: ({ signal }) => loadWebhooks(api, include, signal),
    refetchInterval: EVERY_MS,
  });
}

/** The webhooks in which the service finds a text, up to 250; asks for none without a text. */
export function useFoundWebhooks(q: string) {
  const { api } = useSigned();
  const include = useInclude();
  const isEnabled = q !== '';
  const found = useQuery({
    queryKey: ['webhooks', 'found', q],
    queryFn: async ({ signal }): Promise<AllWebhooks> => {
      const page = await api.page<Webhook>('webhooks', { ...include, limit: PAGE, q }, { signal });
      return { rows: page.rows, isCut: page.nextCursor !== null };
    },
    enabled: isEnabled,
    placeholderData: (before) => before,
  });
  return { ...found, isEnabled };
}
