import type { CallOptions } from './client-options';
import { type Rows, rowsOf } from './pages';
import type { ApiSchema, Page, QueryOf, Request } from './routes';

type TokenQuery = QueryOf<'/api/tokens'>;

/** Access tokens: yours, or with the scope `users:manage` those of others. */
export const tokenRoutes = (request: Request) => ({
  /** Makes an access token. The answer is the only one that shows it. */
  create: (token: ApiSchema<'CreateToken'>, options?: CallOptions): Promise<ApiSchema<'CreatedToken'>> =>
    request('POST', '/api/tokens', { ...options, body: token }),

  /** Lists a page of live tokens, newest first. */
  list: (query: TokenQuery = {}, options?: CallOptions): Promise<Page<ApiSchema<'Token'>>> =>
    request('GET', '/api/tokens', { ...options, query }),

  /** All live tokens, newest first, page after page. */
  all: (query: TokenQuery = {}, options?: CallOptions): Rows<ApiSchema<'Token'>> =>
    rowsOf(query, (page) => request('GET', '/api/tokens', { ...options, query: page })),

  /** Revokes a token, and all that were made with it. */
  revoke: (id: string, options?: CallOptions): Promise<ApiSchema<'DeletedToken'>> =>
    request('DELETE', '/api/tokens/{id}', { ...options, path: { id } }),
});

/** Links that lead an application's users into the console. */
export const consoleLinkRoutes = (request: Request) => ({
  /** Makes a link, good once and for 5 minutes: put the address of the service before its path. */
  create: (link: ApiSchema<'CreateConsoleLink'> = {}, options?: CallOptions): Promise<ApiSchema<'ConsoleLink'>> =>
    request('POST', '/api/console-links', { ...options, body: link }),
});

/** Sessions at the console. */
export const consoleSessionRoutes = (request: Request) => ({
  /** Makes a session of your token, or exchanges the `code` of a link for one. */
  create: (
    session: ApiSchema<'CreateConsoleSession'> = {},
    options?: CallOptions,
  ): Promise<ApiSchema<'ConsoleSession'>> => request('POST', '/api/console-sessions', { ...options, body: session }),

  /** Ends the session that is the client's token. */
  end: (options?: CallOptions): Promise<ApiSchema<'DeletedToken'>> =>
    request('DELETE', '/api/console-sessions', options),
});
