import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config/config';
import { ApiError } from '../errors/api-error';
import { messageFor, MESSAGES } from '../errors/messages';
import { faultyField, largeShapeFaultOf, shapeFaultOf } from './body-shape';

const DEFAULT_MAX_BYTES = 65_536;
/** A batch may hold a hundred events of `EVENT_MAX_BYTES` each, up to `MOST_BYTES`, which memory holds with ease. */
const BATCH_EVENTS = 100;
const MOST_BYTES = 16_777_216;
const SENTENCES = { 'too deep': messageFor.bodyTooDeep, 'too many values': messageFor.bodyTooManyValues };
const LARGE_SENTENCES = { 'too deep': MESSAGES.largeBodyTooDeep, 'too many values': MESSAGES.largeBodyTooManyValues };
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * What a route says about its body, with Nest's `@RouteConfig`. An `event` may have `EVENT_MAX_BYTES`, a `batch` a
 * hundred times that but at most 16 MiB, a `list` 16 MiB, an `event-type` no more than others. The route itself judges the
 * shape of such a body.
 */
export interface BodyRule {
  body?: 'event' | 'batch' | 'list' | 'event-type';
}

const WITH_ANY_KEYS = ['event', 'batch', 'event-type'];

/**
 * Makes `application/json` the only type of body. Its size is bounded per route before it is read, and it must be valid
 * UTF-8. An empty body counts as no body. Keys that could reach a prototype are refused.
 */
export function registerJsonParser(server: FastifyInstance, config: Config): void {
  const parse = server.getDefaultJsonParser('error', 'error');
  // The `data` of an event may hold such keys, so its schema may too: they are kept as they are, and never merged.
  const parseWithAnyKeys = server.getDefaultJsonParser('error', 'ignore');
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
      if (text === null) return done(new ApiError(400, MESSAGES.malformedUtf8));
      if (text === '') return done(null, undefined);
      if (WITH_ANY_KEYS.includes(rule.body ?? '')) return void parseWithAnyKeys(request as FastifyRequest, text, done);
      return void parse(request as FastifyRequest, text, (error, value) => {
        const fault = error || rule.body === 'list' ? null : shapeFaultOf(value);
        if (value === null) done(new ApiError(400, MESSAGES.nullBody));
        else if (fault) done(new ApiError(400, SENTENCES[fault](faultyField(value) ?? 'The request body')));
        else done(error, value);
      });
    };
    if (rule.body !== 'batch' && rule.body !== 'list') return parseText();
    const largeFault = largeShapeFaultOf(body);
    if (largeFault) return done(new ApiError(400, LARGE_SENTENCES[largeFault]));
    // Judging 16 MiB and parsing them take a tenth of a second each: others get a turn in between.
    setImmediate(parseText);
  });
}

function decode(body: Buffer): string | null {
  try {
    return utf8.decode(body);
  } catch {
    return null;
  }
}
