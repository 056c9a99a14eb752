import type { CallOptions } from './client-options';
import type { components, paths } from './openapi.gen';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The routes with this method. */
export type Route<M extends Method> = {
  [R in keyof paths]: paths[R] extends Record<Lowercase<M>, Operation> ? R : never;
}[keyof paths];

/** The inputs of a request: path parameters, query, headers, and body. */
export type RequestOptions<M extends Method, R extends Route<M>> = CallOptions &
  Pick<OperationOf<M, R>['parameters'], 'path' | 'query' | 'header'> &
  Body<OperationOf<M, R>>;

/** The options of a request, optional when none of them is required. */
export type RequestArguments<M extends Method, R extends Route<M>> =
  Partial<RequestOptions<M, R>> extends RequestOptions<M, R>
    ? [options?: RequestOptions<M, R>]
    : [options: RequestOptions<M, R>];

/** The result of a request: the `data` of the envelope; for a list, a page. */
export type Answer<M extends Method, R extends Route<M>> = Unwrapped<
  OperationOf<M, R>['responses'][keyof OperationOf<M, R>['responses']]
>;

/** The query of a list, or of another GET route. */
export type QueryOf<R extends Route<'GET'>> = NonNullable<OperationOf<'GET', R>['parameters']['query']>;

/** An input or output of the API by its name in openapi.json: `ApiSchema<'Webhook'>`, `ApiSchema<'NewWebhook'>`. */
export type ApiSchema<Name extends keyof components['schemas']> = components['schemas'][Name];

/** Calls any route. */
export type Request = <M extends Method, R extends Route<M>>(
  method: M,
  route: R,
  ...options: RequestArguments<M, R>
) => Promise<Answer<M, R>>;

/** One page of a list. */
export interface Page<Row> {
  data: Row[];
  /** Cursor of the next page; null on the last one. */
  nextCursor: string | null;
}

interface Operation {
  parameters: { query?: unknown; header?: unknown; path?: unknown };
  requestBody?: unknown;
  responses: object;
}

type OperationOf<M extends Method, R extends Route<M>> =
  paths[R] extends Record<Lowercase<M>, infer Found extends Operation> ? Found : never;

interface Json<Content> {
  content: { 'application/json': Content };
}

type Body<O extends Operation> = O extends { requestBody: Json<infer Sent> }
  ? { body: Sent }
  : [NonNullable<O['requestBody']>] extends [never]
    ? { body?: never }
    : NonNullable<O['requestBody']> extends Json<infer Sent>
      ? { body?: Sent }
      : never;

type Unwrapped<Success> =
  Success extends Json<infer Envelope>
    ? Envelope extends { data: (infer Row)[]; nextCursor: string | null }
      ? Page<Row>
      : Envelope extends { data: infer Data }
        ? Data
        : never
    : never;
