import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';

const SENTENCES: Record<number, string> = {
  400: 'The request is not valid; the message names every fault.',
  401: 'No valid access token.',
  403: 'The token lacks a scope; the message names it.',
  404: 'There is no such thing, or it belongs to someone else.',
  408: 'The request took too long to arrive.',
  409: 'Not possible in the present state; the message says why.',
  413: 'The request body is too large.',
  415: 'The request body is not application/json.',
  417: 'The header Expect asks for something else than 100-continue.',
  429: 'Too many requests.',
  431: 'The headers of the request are too large.',
  500: 'An error on our side.',
  503: 'The service is not ready.',
};
/** What every route can answer: HTTP itself can be refused, and something can go wrong on our side. */
export const ANYWHERE = [400, 408, 417, 431, 500, 503];

const text = (description: string, required = false) => ({
  description,
  required,
  schema: { type: 'string' as const },
});

/** The headers of answers, as components of the document. */
export const ANSWER_HEADERS = {
  'x-request-id': text('Name it when you report a problem. A sane one of yours is kept.', true),
  'ratelimit-policy': text('The limits that count this request, such as `"requests";q=600;w=60`.'),
  ratelimit: text('What is left of them, such as `"requests";r=599;t=60`.'),
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
  /** The data is a list of these. */
  list?: boolean;
  /** The data is one page of a list: `nextCursor` stands beside it. */
  page?: boolean;
}

/** Documents the success envelope of a route around its DTO. */
export function ApiAnswer(dto: Type, { description, status = 200, list, page }: AnswerOptions): MethodDecorator {
  const item = { $ref: getSchemaPath(dto) };
  const schema = {
    type: 'object',
    required: ['success', 'data', ...(page ? ['nextCursor'] : [])],
    properties: {
      success: { type: 'boolean', const: true },
      data: list || page ? { type: 'array', items: item } : item,
      ...(page && {
        nextCursor: { type: ['string', 'null'], description: 'Ask for the next page with it; null on the last page.' },
      }),
    },
  };
  return applyDecorators(
    ApiExtraModels(dto),
    ApiResponse({ status, description, headers: headersOf(status), schema: schema as never }),
  );
}

/** Documents the error answers of a route: these statuses. */
export function ApiErrors(...statuses: number[]): MethodDecorator {
  return applyDecorators(
    ...statuses.map((status) =>
      ApiResponse({
        status,
        description: SENTENCES[status] ?? '',
        headers: headersOf(status),
        schema: ERROR_ENVELOPE as never,
      }),
    ),
  );
}
