import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config/config';
import { ApiError } from '../errors/api-error';
import { messageFor, MESSAGES } from '../errors/messages';
import { faultyField, shapeFaultOf } from './body-shape';

const DEFAULT_MAX_BYTES = 65_536;
/** A batch may hold a hundred events of `EVENT_MAX_BYTES` each, as long as it can be kept in memory with ease. */
const BATCH_EVENTS = 100;
const MOST_BYTES = 16_777_216;
const SENTENCES = { 'too deep': messageFor.bodyTooDeep, 'too many values': messageFor.bodyTooManyValues };
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * What a route says of its body through Nest's `@RouteConfig`: `event` means that it may have `EVENT_MAX_BYTES`, `batch` a
 * hundred times that, `list` 16 MiB. The shape of such a body is judged by its route.
 */
export interface BodyRule {
  body?: 'event' | 'batch' | 'list';
}

/**
 * Makes `application/json` the one type of body, bounded per route before it is read, and strict about UTF-8. An empty
 * body counts as none; keys that could reach a prototype are refused.
 */
export function registerJsonParser(server: FastifyInstance, config: Config): void {
  const parse = server.getDefaultJsonParser('error', 'error');
  // What is in `data` is delivered as it is, and never merged into anything.
  const parseEvent = server.getDefaultJsonParser('error', 'ignore');
  const maxBytes = {
    event: config.eventMaxBytes,
    batch: Math.min(config.eventMaxBytes * BATCH_EVENTS, MOST_BYTES),
    list: MOST_BYTES,
    none: DEFAULT_MAX_BYTES,
  };
  server.addHook('onRoute', (route) => {
    route.bodyLimit = maxBytes[((route.config ?? {}) as BodyRule).body ?? 'none'];
  });
  server.removeAllContentTypeParsers();
  const options = { parseAs: 'buffer', bodyLimit: DEFAULT_MAX_BYTES } as const;
  server.addContentTypeParser('application/json', options, (request, body: Buffer, done) => {
    const rule = request.routeOptions.config as BodyRule;
    const text = decode(body);
    if (text === null) return done(new ApiError(400, MESSAGES.malformedUtf8));
    if (text === '') return done(null, undefined);
    if (rule.body === 'event' || rule.body === 'batch') return void parseEvent(request as FastifyRequest, text, done);
    return void parse(request as FastifyRequest, text, (error, value) => {
      const fault = error || rule.body === 'list' ? null : shapeFaultOf(value);
      if (fault) done(new ApiError(400, SENTENCES[fault](faultyField(value) ?? 'The request body')));
      else done(error, value);
    });
  });
}

function decode(body: Buffer): string | null {
  try {
    return utf8.decode(body);
  } catch {
    return null;
  }
}
