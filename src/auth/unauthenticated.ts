import { ApiError } from '../errors/api-error';
import { MESSAGES } from '../errors/catalogue';

/** The one answer to all bad credentials, with the challenge of RFC 9110, section 11.6.1. */
export const unauthenticated = (): ApiError =>
  new ApiError(401, MESSAGES.unauthenticated, { 'www-authenticate': 'Bearer realm="api"' });
