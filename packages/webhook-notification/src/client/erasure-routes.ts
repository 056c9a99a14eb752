import type { CallOptions } from './client-options';
import { type Rows, rowsOf } from './pages';
import type { ApiSchema, Page, QueryOf, Request } from './routes';

type ErasureQuery = QueryOf<'/api/erasures'>;

/** Forgetting users. */
export const erasureRoutes = (request: Request) => ({
  /** Begins to delete everything about a user, which cannot be undone. Returns the erasure that is running, if there is one. */
  start: (userId: string, options?: CallOptions): Promise<ApiSchema<'Erasure'>> =>
    request('DELETE', '/api/users/{userId}', { ...options, path: { userId }, body: { confirm: userId } }),

  /** Lists a page of erasures, newest first; with `userId`, only those of this user. */
  list: (query: ErasureQuery = {}, options?: CallOptions): Promise<Page<ApiSchema<'Erasure'>>> =>
    request('GET', '/api/erasures', { ...options, query }),

  /** Iterates over all erasures, newest first, page by page. */
  all: (query: ErasureQuery = {}, options?: CallOptions): Rows<ApiSchema<'Erasure'>> =>
    rowsOf(query, (page) => request('GET', '/api/erasures', { ...options, query: page })),

  /** Returns the progress of an erasure. */
  read: (id: string, options?: CallOptions): Promise<ApiSchema<'Erasure'>> =>
    request('GET', '/api/erasures/{id}', { ...options, path: { id } }),
});
