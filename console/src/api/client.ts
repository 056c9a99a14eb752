import { QueryCache, QueryClient } from '@tanstack/preact-query';
import { CallError } from './call';

export const ABOUT_KEY = ['about'];

/** What one user has seen; there is another one for each. */
export function newClient(): QueryClient {
  const client = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => {
        // Who asks for the version says that the service is away, and when it is back.
        const isAway = error instanceof CallError && error.status === 0;
        if (isAway && queryKey !== ABOUT_KEY) void client.refetchQueries({ queryKey: ABOUT_KEY });
      },
    }),
    // Queries do not retry by themselves, so that an error is shown at once.
    defaultOptions: {
      queries: { retry: false, staleTime: 2000, networkMode: 'always' },
      mutations: { networkMode: 'always' },
    },
  });
  return client;
}
