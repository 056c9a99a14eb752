import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';

/** The one answer to all bad credentials, with the challenge of RFC 9110, section 11.6.1. */
export const unauthenticated = (): ApiError =>
  new ApiError(401, MESSAGES.unauthenticated, { 'www-authenticate': 'Bearer realm="api"' });
