import { useQuery } from '@tanstack/preact-query';
import { type Encoded, encoded } from '../../api/address';
import type { Api } from '../../api/call';
import { useSigned } from '../../api/signed';
import type { Delivery, Recovery } from '../../api/types';

const PAGE = 250;
const MOST_PAGES = 8;
const SOON_MS = 2000;
const LATER_MS = 10_000;

/** The events of a recovery that are not delivered, by state. */
export interface Outcome {
  /** Events whose first attempt is pending. */
  waiting: number;
  /** Newest deliveries of events that gave up again, or wait for a retry. */
  failing: readonly Delivery[];
  canceled: number;
  /** There are more than the 2,000 that were read. */
  isCut: boolean;
}

/** Polls a recovery until all its events are queued. */
export function useRecovery(webhookId: string, id: string | null) {
  const { api } = useSigned();
  return useQuery({
    queryKey: ['recovery', id],
    queryFn: ({ signal }) => api.get<Recovery>(encoded`webhooks/${webhookId}/recoveries/${id ?? ''}`, {}, signal),
    enabled: id !== null,
    refetchInterval: ({ state }) => (state.data?.status === 'done' ? false : SOON_MS / 2),
  });
}

/** Polls the deliveries of a recovery until none is pending. */
export function useOutcome(webhookId: string, recovery: Recovery) {
  const { api } = useSigned();
  const { id, createdAt, queued, status } = recovery;
  return useQuery({
    // Each step of the recovery changes the counts.
    queryKey: ['recovery', id, 'outcome', queued, status],
    queryFn: ({ signal }) => outcomeSince(api, encoded`webhooks/${webhookId}/deliveries`, createdAt, signal),
    placeholderData: (before) => before,
    refetchInterval: ({ state: { data } }) => {
      if (!data || data.isCut) return LATER_MS;
      if (data.waiting > 0) return SOON_MS;
      return data.failing.some(({ status: each }) => each === 'pending') ? LATER_MS : false;
    },
  });
}

async function outcomeSince(api: Api, path: Encoded, since: string, signal: AbortSignal): Promise<Outcome> {
  const state = ['waiting', 'retrying', 'gave_up', 'canceled'];
  const query = { trigger: 'redelivery', since, state, limit: PAGE };
  const rows: Delivery[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await api.page<Delivery>(path, { ...query, cursor }, { signal });
    rows.push(...page.rows);
    cursor = page.nextCursor ?? undefined;
  } while (cursor && ++pages < MOST_PAGES);
  const isWaiting = ({ status, attempt }: Delivery) => status === 'pending' && attempt === 1;
  return {
    waiting: rows.filter(isWaiting).length,
    failing: rows.filter((row) => !isWaiting(row) && row.status !== 'canceled'),
    canceled: rows.filter(({ status }) => status === 'canceled').length,
    isCut: cursor !== undefined,
  };
}
