import type { CallOptions } from './client-options';
import { type Rows, rowsOf } from './pages';
import type { ApiSchema, Page, QueryOf, Request } from './routes';

type AccountQuery = QueryOf<'/api/accounts'>;

/** Social accounts whose followers cause events. */
export const accountRoutes = (request: Request) => ({
  /** Connects an account. */
  create: (account: ApiSchema<'NewAccount'>, options?: CallOptions): Promise<ApiSchema<'Account'>> =>
    request('POST', '/api/accounts', { ...options, body: account }),

  /** Lists a page of your accounts, newest first. */
  list: (query: AccountQuery = {}, options?: CallOptions): Promise<Page<ApiSchema<'Account'>>> =>
    request('GET', '/api/accounts', { ...options, query }),

  /** Iterates over all your accounts, newest first, page by page. */
  all: (query: AccountQuery = {}, options?: CallOptions): Rows<ApiSchema<'Account'>> =>
    rowsOf(query, (page) => request('GET', '/api/accounts', { ...options, query: page })),

  /** Returns an account, with its number of followers and the error of its last reading. */
  read: (id: string, options?: CallOptions): Promise<ApiSchema<'Account'>> =>
    request('GET', '/api/accounts/{id}', { ...options, path: { id } }),

  /** Disconnects an account. */
  remove: (id: string, options?: CallOptions): Promise<ApiSchema<'DeletedAccount'>> =>
    request('DELETE', '/api/accounts/{id}', { ...options, path: { id } }),

  /** Replaces the list of followers of a push account. */
  putFollowers: (
    id: string,
    followers: ApiSchema<'FollowerList'>,
    options?: CallOptions,
  ): Promise<ApiSchema<'FollowersChange'>> =>
    request('PUT', '/api/accounts/{id}/followers', { ...options, path: { id }, body: followers }),
});
