import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ERROR_CODES, type ErrorCode } from '../errors/error-codes';

/** Returns the name of a DTO's schema in the document: `WebhookDto` → `Webhook`, `CreateWebhookDto` → `NewWebhook`. */
export function nounOf(dto: string): string {
  const [, verb, noun] = /^(Create(?=[A-Z])|Update(?=[A-Z])|)(\w+)Dto$/.exec(dto) ?? [];
  if (noun === undefined) return dto;
  return { Create: `New${noun}`, Update: `${noun}Update` }[verb ?? ''] ?? noun;
}

const DESCRIPTIONS: Record<number, string> = {
  400: 'The request is invalid.',
  401: 'No valid access token.',
  403: 'The token lacks a scope, or may not do this.',
  404: 'It does not exist, or belongs to another user.',
  409: 'Not possible in the current state; `code` names the reason.',
  412: 'The webhook was changed since the version in `if-match`.',
  413: 'The request body is too large.',
  415: 'The request body is not application/json.',
  429: 'Too many requests.',
};

/** The errors of a route with a body, or that would reject one. */
export const BODY_ERRORS = [
  'validation_failed',
  'malformed_json',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies ErrorCode[];

const text = (description: string, required = false) => ({
  description,
  required,
  schema: { type: 'string' as const },
});

export const ANSWER_HEADERS = {
  'x-request-id': text('Include it when you report a problem. A valid id that you send is kept.', true),
  'ratelimit-policy': text('The limits that count this request, such as `"requests";q=600;w=60`.'),
  ratelimit: text('The remaining quota, such as `"requests";r=599;t=60`.'),
  'retry-after': text('Seconds to wait.', true),
  location: text('Path of the new resource.'),
  etag: text('Version of the fields that you can set, and of `active`. Send it back as `if-match`.'),
  'accept-encoding': text('`identity`, when the body was compressed.'),
  'www-authenticate': text('`Bearer realm="api"`.'),
};
const RATE_LIMIT = ['ratelimit-policy', 'ratelimit'];
const HEADERS: Record<number | string, string[]> = {
  401: ['www-authenticate'],
  415: [...RATE_LIMIT, 'accept-encoding'],
  429: [...RATE_LIMIT, 'retry-after'],
  default: [],
};

const headersOf = (status: number | 'default', ...more: readonly string[]) =>
  Object.fromEntries(
    ['x-request-id', ...(HEADERS[status] ?? RATE_LIMIT), ...more].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );

/** Schemas of the document that no DTO describes: the envelopes. */
export const ENVELOPES: Record<string, object> = {
  Error: {
    type: 'object',
    required: ['success', 'error', 'code', 'requestId'],
    properties: {
      success: { type: 'boolean', description: 'Always false.', example: false },
      error: { type: 'string', description: 'One readable sentence.', example: 'url must be an absolute URL.' },
      code: { type: 'string', description: 'The cause; docs/errors.md lists all.', example: 'validation_failed' },
      requestId: { type: 'string', description: 'The `x-request-id` of the response.' },
      details: {
        type: 'array',
        maxItems: 20,
        description: 'The invalid fields, for `validation_failed` and `cursor_invalid`.',
        items: { $ref: '#/components/schemas/FieldError' },
      },
    },
  },
  FieldError: {
    type: 'object',
    description: 'An invalid field of a request.',
    required: ['field', 'code', 'message'],
    properties: {
      field: { type: 'string', description: 'Path of the field.', example: 'query.limit' },
      code: {
        type: 'string',
        description: 'required, unknown_field, unknown_event_type, destination_blocked or invalid.',
        example: 'invalid',
      },
      message: { type: 'string', description: 'One readable sentence.', example: 'limit must be an integer' },
    },
  },
};
const ERROR = { $ref: '#/components/schemas/Error' };

interface AnswerOptions {
  status?: number;
  list?: boolean;
  /** The data is one page of a list, next to its `nextCursor`. */
  page?: boolean;
  headers?: readonly ('location' | 'etag')[];
}

/** Documents a route. The name of its method is the id of the operation. */
export const ApiRoute = (summary: string, description?: string): MethodDecorator =>
  ApiOperation({ summary, description });

/** Documents the success envelope of a route for its DTO, as a named schema. */
export function ApiAnswer(
  dto: Type,
  description: string,
  { status = 200, list, page, headers = [] }: AnswerOptions = {},
): MethodDecorator {
  const item = { $ref: getSchemaPath(dto) };
  const name = `${nounOf(dto.name)}${page ? 'Page' : list ? 'List' : 'Response'}`;
  ENVELOPES[name] = {
    type: 'object',
    required: ['success', 'data', ...(page ? ['nextCursor'] : [])],
    properties: {
      success: { type: 'boolean', description: 'Always true.', example: true },
      data: list || page ? { type: 'array', description: 'The items.', items: item } : item,
      ...(page && {
        nextCursor: {
          type: ['string', 'null'],
          description: 'Pass it as `cursor` to get the next page; null on the last page.',
        },
      }),
    },
  };
  const schema = { $ref: `#/components/schemas/${name}` };
  return applyDecorators(
    ApiExtraModels(dto),
    ApiResponse({ status, description, headers: headersOf(status, ...headers), schema }),
  );
}

const CODES_KEY = 'openapi:error-codes';

/** Documents the errors of a route, with an example for each code. May be applied several times. */
export function ApiErrors(...codes: ErrorCode[]): MethodDecorator {
  return (target, key, descriptor) => {
    const handler = descriptor.value as object;
    const all = [...((Reflect.getMetadata(CODES_KEY, handler) ?? []) as ErrorCode[]), ...codes];
    Reflect.defineMetadata(CODES_KEY, all, handler);
    for (const status of new Set(codes.map((code) => ERROR_CODES[code].status))) {
      const examples = all.filter((code) => ERROR_CODES[code].status === status).map((code) => [code, exampleOf(code)]);
      ApiResponse({
        status,
        description: DESCRIPTIONS[status] ?? '',
        headers: headersOf(status),
        content: { 'application/json': { schema: ERROR, examples: Object.fromEntries(examples) as never } },
      })(target, key, descriptor);
    }
  };
}

/** Documents the errors that any route can return: the HTTP request itself can be rejected, and the service can fail. */
export const ApiOtherErrors = (): MethodDecorator =>
  ApiResponse({
    status: 'default',
    description: 'Any other error: malformed HTTP (400, 408, 417, 431), an internal error (500), or not ready (503).',
    headers: headersOf('default'),
    content: { 'application/json': { schema: ERROR, examples: { unavailable: exampleOf('unavailable') } } },
  });

function exampleOf(code: ErrorCode) {
  const { meaning } = ERROR_CODES[code];
  const details = EXAMPLE_DETAILS[code];
  const error = details?.[0]?.message ?? meaning.replaceAll('`', '');
  return {
    summary: meaning,
    value: {
      success: false,
      error,
      code,
      requestId: '0b0f4bb5-9f5c-4b7a-8f0e-8a6d3c1f2e47',
      ...(details && { details }),
    },
  };
}

const EXAMPLE_DETAILS: Partial<Record<ErrorCode, { field: string; code: string; message: string }[]>> = {
  validation_failed: [{ field: 'more', code: 'unknown_field', message: 'more is not a known field' }],
  cursor_invalid: [{ field: 'query.cursor', code: 'invalid', message: 'The cursor is not valid for this list.' }],
};
