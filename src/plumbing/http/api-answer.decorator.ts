import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';

const SENTENCES: Record<number, string> = {
  400: 'The request is not valid; the message names every fault.',
  401: 'No valid access token.',
  403: 'The token lacks a scope; the message names it.',
  404: 'There is no such thing, or it belongs to someone else.',
  409: 'Not possible in the present state; the message says why.',
  413: 'The request body is too large.',
  415: 'The request body is not application/json.',
  429: 'Too many requests.',
  500: 'An error on our side.',
  503: 'The service is not ready.',
};

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
  return applyDecorators(ApiExtraModels(dto), ApiResponse({ status, description, schema: schema as never }));
}

/** Documents the error answers of a route: these statuses, and the 500 and 503 that every route can give. */
export function ApiErrors(...statuses: number[]): MethodDecorator {
  return applyDecorators(
    ...[...statuses, 500, 503].map((status) =>
      ApiResponse({ status, description: SENTENCES[status] ?? '', schema: ERROR_ENVELOPE as never }),
    ),
  );
}
