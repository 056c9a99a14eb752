import { useQuery } from '@tanstack/preact-query';
import { encoded } from '../../api/address';
import { useSigned } from '../../api/signed';
import type { Account } from '../../api/types';
import { isFirstDue } from './next-reading';

/** A user has at most 20. */
const MOST = 50;
const EVERY_MS = 15_000;
/** While a first reading is due, which takes seconds. */
const SOON_MS = 2000;

/** The accounts of this user, newest first. */
export function useAccounts() {
  const { api } = useSigned();
  return useQuery({
    queryKey: ['accounts'],
    queryFn: async ({ signal }) => (await api.page<Account>('accounts', { limit: MOST }, { signal })).rows,
    refetchInterval: ({ state }) => (state.data?.some(isFirstDue) ? SOON_MS : EVERY_MS),
  });
}

/** One account. */
export function useAccount(id: string) {
  const { api } = useSigned();
  return useQuery({
    queryKey: ['account', id],
    queryFn: ({ signal }) => api.get<Account>(encoded`accounts/${id}`, {}, signal),
    refetchInterval: ({ state }) => (state.data && isFirstDue(state.data) ? SOON_MS : EVERY_MS),
  });
}
