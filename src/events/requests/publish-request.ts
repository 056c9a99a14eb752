import { isIdempotencyKey, isUserId } from 'webhook-notification/catalogue';
import { ApiError } from '../../infrastructure/errors/api-error';
import { messageFor, MESSAGES } from '../../infrastructure/errors/messages';

/** The body of `POST /api/events`. `userId` is undefined when the body does not contain it. */
export interface PublishRequest {
  event: string;
  data: unknown;
  idempotencyKey?: string;
  userId?: string | null;
}

const FIELDS = ['event', 'data', 'idempotencyKey', 'userId'];

/**
 * Parses the body of a publish request. It is not a DTO because class-transformer must not touch `data`: a key such as
 * `constructor`, or deep nesting, breaks it.
 * @param headerKey value of the header `Idempotency-Key`
 * @throws ApiError 400 that lists every error
 */
export function parsePublishRequest(body: unknown, headerKey?: string): PublishRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ApiError(400, MESSAGES.badPublishRequest);
  }
  const request = body as Record<string, unknown>;
  const problems = [
    ...Object.keys(request)
      .filter((field) => !FIELDS.includes(field))
      .map(messageFor.unknownField),
    ...(typeof request.event === 'string' ? [] : ['event must be a string']),
    ...(Object.hasOwn(request, 'data') ? [] : ['data must be a JSON object']),
    ...keyProblems(request.idempotencyKey, headerKey),
    ...userProblems(request.userId),
  ];
  if (problems.length > 0) throw new ApiError(400, problems.join('; '));
  const { event, data, userId } = request as unknown as PublishRequest;
  return { event, data, userId, idempotencyKey: (request.idempotencyKey as string | undefined) ?? headerKey };
}

function keyProblems(key: unknown, headerKey: string | undefined): string[] {
  const given = [key, headerKey].filter((candidate) => candidate !== undefined);
  if (!given.every(isIdempotencyKey)) return [MESSAGES.badIdempotencyKey];
  return given.length === 2 && key !== headerKey ? [MESSAGES.idempotencyKeyMismatch] : [];
}

function userProblems(userId: unknown): string[] {
  const valid = userId === undefined || userId === null || (typeof userId === 'string' && isUserId(userId));
  return valid ? [] : [MESSAGES.badUserId];
}
