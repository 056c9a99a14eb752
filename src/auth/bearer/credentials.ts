import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';
import { addressGroup } from '../limits/address-group';

export interface Incoming {
  raw: { headersDistinct: Readonly<Record<string, string[] | undefined>> };
  ip: string;
  socket: { remoteAddress?: string };
}

const BEARER = /^Bearer (\S+)$/i;

/** Returns the `Authorization` header of a request; undefined if there is none, or more than one. */
export function authorizationOf({ raw }: Incoming): string | undefined {
  const given = raw.headersDistinct.authorization ?? [];
  return given.length === 1 ? given[0] : undefined;
}

/** Returns the bearer token (RFC 6750, section 2.1) of a request; undefined if there is none. */
export const bearerTokenOf = (request: Incoming): string | undefined =>
  BEARER.exec(authorizationOf(request) ?? '')?.[1];

/** Returns the group that a failure counts against; that of the proxy when `x-forwarded-for` is no address. */
export const senderOf = ({ ip, socket }: Incoming): string =>
  addressGroup(ip) ?? addressGroup(socket.remoteAddress ?? '') ?? 'unknown';

/** Creates the same error for all invalid credentials of a kind, with the challenge of RFC 9110, section 11.6.1. */
export const unauthenticated = (
  code: 'unauthenticated' | 'link_invalid' = 'unauthenticated',
  message: string = MESSAGES.unauthenticated,
): ApiError => new ApiError(code, message, { headers: { 'www-authenticate': 'Bearer realm="api"' } });
