import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';

const DESCRIPTIONS: Record<number, string> = {
  400: 'The request is invalid; the message lists every error.',
  401: 'No valid access token.',
  403: 'The token lacks a scope; the message names it.',
  404: 'It does not exist, or belongs to another user.',
  408: 'The request took too long to arrive.',
  409: 'Not possible in the current state; the message says why.',
  413: 'The request body is too large.',
  415: 'The request body is not application/json.',
  417: 'The Expect header is not 100-continue.',
  429: 'Too many requests.',
  431: 'The headers of the request are too large.',
  500: 'An internal error.',
  503: 'The service is not ready.',
};
/** Statuses that every route can return: the HTTP request itself can be rejected, and the service can fail. */
export const ANYWHERE = [400, 408, 417, 431, 500, 503];

const text = (description: string, required = false) => ({
  description,
  required,
  schema: { type: 'string' as const },
});

/** Response headers, as components of the document. */
export const ANSWER_HEADERS = {
  'x-request-id': text('Include it when you report a problem. A valid id that you send is kept.', true),
  'ratelimit-policy': text('The limits that count this request, such as `"requests";q=600;w=60`.'),
  ratelimit: text('The remaining quota, such as `"requests";r=599;t=60`.'),
  'retry-after': text('Seconds to wait.', true),
  'www-authenticate': text('`Bearer realm="api"`.'),
};
const RATE_LIMIT = ['ratelimit-policy', 'ratelimit'];
const HEADERS: Record<number, string[]> = {
  ...{ 408: [], 417: [], 431: [] },
  401: ['www-authenticate'],
  429: [...RATE_LIMIT, 'retry-after'],
};

const headersOf = (status: number) =>
  Object.fromEntries(
    ['x-request-id', ...(HEADERS[status] ?? RATE_LIMIT)].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );

const ERROR_ENVELOPE = {
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { type: 'boolean', const: false },
    error: { type: 'string', description: 'One readable sentence.', example: 'url must be an absolute URL.' },
  },
} as const;

interface AnswerOptions {
  description: string;
  status?: number;
  /** The data is a list of this DTO. */
  list?: boolean;
  /** The data is one page of a list, next to its `nextCursor`. */
  page?: boolean;
}

/** Documents the success envelope of a route for its DTO. */
export function ApiAnswer(dto: Type, { description, status = 200, list, page }: AnswerOptions): MethodDecorator {
  const item = { $ref: getSchemaPath(dto) };
  const schema = {
    type: 'object',
    required: ['success', 'data', ...(page ? ['nextCursor'] : [])],
    properties: {
      success: { type: 'boolean', const: true },
      data: list || page ? { type: 'array', items: item } : item,
      ...(page && {
        nextCursor: {
          type: ['string', 'null'],
          description: 'Pass it as `cursor` to get the next page; null on the last page.',
        },
      }),
    },
  };
  return applyDecorators(
    ApiExtraModels(dto),
    ApiResponse({ status, description, headers: headersOf(status), schema: schema as never }),
  );
}

/** Documents the error responses of a route with these statuses. */
export function ApiErrors(...statuses: number[]): MethodDecorator {
  return applyDecorators(
    ...statuses.map((status) =>
      ApiResponse({
        status,
        description: DESCRIPTIONS[status] ?? '',
        headers: headersOf(status),
        schema: ERROR_ENVELOPE as never,
      }),
    ),
  );
}
