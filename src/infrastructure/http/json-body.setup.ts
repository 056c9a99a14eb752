import type { FastifyInstance, FastifyRequest } from 'fastify';
import { inexactPartOf } from 'webhook-notification/catalogue';
import type { Config } from '../config/config';
import { ApiError, invalid, messageFor, MESSAGES } from '../errors/api-error';
import { invalidField, largeShapeErrorOf, type ShapeError, shapeErrorOf } from './body-shape';

const DEFAULT_MAX_BYTES = 65_536;
/** A batch may contain a hundred events of `EVENT_MAX_BYTES` each, up to `MOST_BYTES`, which easily fits in memory. */
const BATCH_EVENTS = 100;
const MOST_BYTES = 16_777_216;
const SHAPE_MESSAGES = { 'too deep': messageFor.bodyTooDeep, 'too many values': messageFor.bodyTooManyValues };
const LARGE_SHAPE_MESSAGES = {
  'too deep': MESSAGES.largeBodyTooDeep,
  'too many values': MESSAGES.largeBodyTooManyValues,
};
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The body rule of a route, set with Nest's `@RouteConfig`. An `event` may have `EVENT_MAX_BYTES`, a `batch` a hundred
 * times that but at most 16 MiB, a `list` 16 MiB, an `event-type` no more than other bodies. The route itself validates
 * the shape of such a body.
 */
export interface BodyRule {
  body?: 'event' | 'batch' | 'list' | 'event-type';
}

const WITH_ANY_NAMES = ['event', 'batch', 'event-type'];

/**
 * Makes `application/json` the only body type. The size is limited per route before the body is read, and the body must
 * be valid UTF-8. An empty body counts as no body. Rejected are names that could reach a prototype, and what parsing would change:
 * numbers that are not exact, and repeated names.
 */
export function registerJsonParser(server: FastifyInstance, config: Config): void {
  // `inexactPartOf` rejects `__proto__` with its place.
  const parse = server.getDefaultJsonParser('ignore', 'error');
  // The `data` of an event may contain the other names, and so may its schema: they are kept unchanged and never merged.
  const parseWithAnyNames = server.getDefaultJsonParser('ignore', 'ignore');
  const maxBytes = {
    event: config.eventMaxBytes,
    batch: Math.min(config.eventMaxBytes * BATCH_EVENTS, MOST_BYTES),
    list: MOST_BYTES,
    'event-type': DEFAULT_MAX_BYTES,
    none: DEFAULT_MAX_BYTES,
  };
  server.addHook('onRoute', (route) => {
    route.bodyLimit = maxBytes[((route.config ?? {}) as BodyRule).body ?? 'none'];
  });
  server.removeAllContentTypeParsers();
  const options = { parseAs: 'buffer', bodyLimit: DEFAULT_MAX_BYTES } as const;
  server.addContentTypeParser('application/json', options, (request, body: Buffer, done) => {
    const rule = request.routeOptions.config as BodyRule;
    const parseText = () => {
      const text = decode(body);
      if (text === null) return done(new ApiError('malformed_json', MESSAGES.malformedUtf8));
      if (text === '') return done(null, undefined);
      const hasAnyNames = WITH_ANY_NAMES.includes(rule.body ?? '');
      const parser = hasAnyNames ? parseWithAnyNames : parse;
      return void parser(request as FastifyRequest, text, (error, value) => {
        if (error) return done(isPoisoned(error) ? invalid('body', MESSAGES.bodyWithPrototype) : error);
        if (!hasAnyNames && value === null) return done(invalid('body', MESSAGES.nullBody));
        const shapeError = hasAnyNames || rule.body === 'list' ? null : shapeErrorOf(value);
        if (shapeError) return done(shapeRefusal(shapeError, invalidField(value)));
        const inexact = inexactPartOf(text);
        return inexact ? done(ApiError.invalid(inexact)) : done(null, value);
      });
    };
    if (rule.body !== 'batch' && rule.body !== 'list') return parseText();
    const shapeError = largeShapeErrorOf(body);
    if (shapeError) return done(invalid('body', LARGE_SHAPE_MESSAGES[shapeError]));
    // Validating 16 MiB and parsing them take a tenth of a second each; other requests are processed in between.
    setImmediate(parseText);
  });
}

const shapeRefusal = (shapeError: ShapeError, field: string | undefined): ApiError =>
  invalid(field ?? 'body', SHAPE_MESSAGES[shapeError](field ?? 'The request body'));

/** By the message of Fastify's parser, which has no code of its own for names that could reach a prototype. */
const isPoisoned = ({ message }: Error): boolean => message.includes('forbidden prototype');

function decode(body: Buffer): string | null {
  try {
    return utf8.decode(body);
  } catch {
    return null;
  }
}
