import { useQuery } from '@tanstack/preact-query';
import { useSigned } from '../api/signed';
import type { Stats } from '../api/types';
import { type Span, SPANS } from './spans';

const EVERY_MS = 15_000;

/**
 * The counts of a span of time that ends now, or of the span before it.
 * @param webhookId left out: of all webhooks
 */
export function useStats(span: Span, { webhookId, isBefore = false }: { webhookId?: string; isBefore?: boolean } = {}) {
  const { api } = useSigned();
  const { ms, step } = SPANS[span];
  return useQuery({
    queryKey: ['stats', webhookId ?? null, span, isBefore],
    queryFn: ({ signal }) => {
      const until = Date.now() - (isBefore ? ms : 0);
      const times = { since: new Date(until - ms).toISOString(), until: new Date(until).toISOString() };
      return api.get<Stats>('stats', { ...times, webhookId, step }, signal);
    },
    refetchInterval: isBefore ? 4 * EVERY_MS : EVERY_MS,
  });
}
