import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config/config';
import { ApiError } from '../errors/api-error';
import { MESSAGES } from '../errors/catalogue';

const DEFAULT_MAX_BYTES = 65_536;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What a route says of its body through Nest's `@RouteConfig`: `event` means that it may have `EVENT_MAX_BYTES`. */
export interface BodyRule {
  body?: 'event';
}

/**
 * Makes `application/json` the one type of body, bounded per route and strict about UTF-8. An empty body counts as
 * none; keys that could reach a prototype are refused.
 */
export function registerJsonParser(server: FastifyInstance, config: Config): void {
  const parse = server.getDefaultJsonParser('error', 'error');
  const bodyLimit = Math.max(DEFAULT_MAX_BYTES, config.eventMaxBytes);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit }, (request, body: Buffer, done) => {
    const rule = request.routeOptions.config as BodyRule;
    const maxBytes = rule.body === 'event' ? config.eventMaxBytes : DEFAULT_MAX_BYTES;
    if (body.length > maxBytes) return done(new ApiError(413, MESSAGES.bodyTooLarge));
    const text = decode(body);
    if (text === null) return done(new ApiError(400, MESSAGES.malformedUtf8));
    if (text === '') return done(null, undefined);
    return void parse(request as FastifyRequest, text, done);
  });
}

function decode(body: Buffer): string | null {
  try {
    return utf8.decode(body);
  } catch {
    return null;
  }
}
