import type { CallOptions } from './client-options';
import { type Rows, rowsOf } from './pages';
import type { ApiSchema, Page, QueryOf, Request } from './routes';

type TokenQuery = QueryOf<'/api/tokens'>;

/** Access tokens: yours, or with the scope `users:manage` those of other users. */
export const tokenRoutes = (request: Request) => ({
  /** Creates an access token. Only this response contains it. */
  create: (token: ApiSchema<'NewToken'>, options?: CallOptions): Promise<ApiSchema<'CreatedToken'>> =>
    request('POST', '/api/tokens', { ...options, body: token }),

  /** Lists a page of live tokens, newest first. */
  list: (query: TokenQuery = {}, options?: CallOptions): Promise<Page<ApiSchema<'Token'>>> =>
    request('GET', '/api/tokens', { ...options, query }),

  /** Iterates over all live tokens, newest first, page by page. */
  all: (query: TokenQuery = {}, options?: CallOptions): Rows<ApiSchema<'Token'>> =>
    rowsOf(query, (page) => request('GET', '/api/tokens', { ...options, query: page })),

  /** Revokes a token and all tokens that were created with it. */
  revoke: (id: string, options?: CallOptions): Promise<ApiSchema<'DeletedToken'>> =>
    request('DELETE', '/api/tokens/{id}', { ...options, path: { id } }),
});

/** Links that sign an application's users in to the console. */
export const consoleLinkRoutes = (request: Request) => ({
  /** Creates a single-use link that is valid for 5 minutes: put the URL of the service before its path. */
  create: (link: ApiSchema<'NewConsoleLink'> = {}, options?: CallOptions): Promise<ApiSchema<'ConsoleLink'>> =>
    request('POST', '/api/console-links', { ...options, body: link }),
});

/** Console sessions. */
export const consoleSessionRoutes = (request: Request) => ({
  /** Creates a session from your token, or exchanges the `code` of a link for one. */
  create: (session: ApiSchema<'NewConsoleSession'> = {}, options?: CallOptions): Promise<ApiSchema<'ConsoleSession'>> =>
    request('POST', '/api/console-sessions', { ...options, body: session }),

  /** Ends the session whose token the client uses. */
  end: (options?: CallOptions): Promise<ApiSchema<'DeletedToken'>> =>
    request('DELETE', '/api/console-sessions', options),
});
