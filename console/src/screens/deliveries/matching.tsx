import { useQuery } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { encoded, type Query, queryOf } from '../../api/address';
import { useSigned } from '../../api/signed';
import type { DeliveryCount } from '../../api/types';
import { useLogFilters } from '../../parts/log-filters';
import { TEXT } from '../../text/en';

/** How many attempts match, and the step that sends them all again. */
export function Matching() {
  const { filters, query } = useLogFilters();
  return (
    <span class="matching small">
      {filters.webhookId === undefined && Object.keys(query).length > 0 && <Count query={query} />}
      <RecoverAll webhookId={filters.webhookId} query={query} />
    </span>
  );
}

/** Counting costs ten requests of the limit: once for each set of filters. */
const STALE_MS = 60_000;

function Count({ query }: { query: Query }) {
  const { api } = useSigned();
  const { data } = useQuery({
    queryKey: ['count', query],
    queryFn: ({ signal }) => api.get<DeliveryCount>('deliveries/count', query, signal),
    staleTime: STALE_MS,
    retry: false,
  });
  return (
    <span role="status" class="muted number">
      {data && TEXT.log.match(data.count, data.atLeast)}
    </span>
  );
}

/** The filters that a recovery knows, besides its webhook. */
const NARROWING = ['since', 'until', 'event', 'error'];
/** A recovery sends what gave up or was canceled. */
const RECOVERED = ['gave_up', 'canceled', 'failed'];

/** Leads to the step that sends all that match, where a recovery can send exactly these. */
function RecoverAll({ webhookId, query }: { webhookId: Query[string]; query: Query }) {
  const { state, status, givenUp: _, ...filters } = query;
  if (typeof webhookId !== 'string') return null;
  const others = Object.keys(filters).filter((name) => !NARROWING.includes(name));
  if (![state ?? [], status ?? []].flat().every((each) => RECOVERED.includes(String(each)))) others.push('status');
  if (others.length > 0) return <span class="muted">{TEXT.log.cannotNarrow(others.join(', '))}</span>;
  return <Link href={encoded`/webhooks/${webhookId}/repair` + queryOf(filters)}>{TEXT.log.recoverAll}</Link>;
}
