import { type FieldError, invalidField } from 'webhook-notification/catalogue';
import { ApiError, invalid, MESSAGES, unknownField } from '../../infrastructure/errors/api-error';

/** How a consumer dealt with one message. `message` is its reason for a failure; null without one, and for a success. */
export interface Acknowledgement {
  leaseId: string;
  succeeded: boolean;
  message: string | null;
}

export const MAX_LEASES = 100;
export const MAX_LEASE_ID = 128;
export const MAX_REASON = 500;
/** Without NUL and halves of pairs, which PostgreSQL cannot store. */
export const REASON = /^[^\p{Cs}\0]*$/u;

/** Parses `{succeeded, failed}` with 1 to 100 different leases. Throws 400 with every error. */
export function parseAcknowledgements(body: unknown): Acknowledgement[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('body', MESSAGES.badAcknowledgement);
  const { succeeded = [], failed = [] } = body as { succeeded?: unknown; failed?: unknown };
  const errors = Object.keys(body)
    .filter((field) => field !== 'succeeded' && field !== 'failed')
    .map(unknownField);
  const all = [
    ...listOf('succeeded', succeeded, errors).map((leaseId) => ({ leaseId, succeeded: true, message: null })),
    ...listOf('failed', failed, errors).map((each) => ({ ...failureOf(each, errors), succeeded: false })),
  ];
  const ids = all.map(({ leaseId }) => leaseId);
  if (!ids.every(isLeaseId))
    errors.push(invalidField('leaseId', `must be a string of up to ${MAX_LEASE_ID} characters`));
  if (errors.length === 0 && (ids.length === 0 || ids.length > MAX_LEASES || new Set(ids).size < ids.length))
    errors.push({ field: 'body', code: 'invalid', message: MESSAGES.badAcknowledgement });
  if (errors.length > 0) throw ApiError.invalid(...errors);
  return all as Acknowledgement[];
}

function listOf(field: string, value: unknown, errors: FieldError[]): unknown[] {
  if (Array.isArray(value) && value.length <= MAX_LEASES) return value;
  errors.push(invalidField(field, `must be a list of up to ${MAX_LEASES} leases`));
  return [];
}

function failureOf(value: unknown, errors: FieldError[]): { leaseId: unknown; message: string | null } {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const { leaseId, message = null, ...others } = (isObject ? value : {}) as { leaseId?: unknown; message?: unknown };
  if (!isObject)
    errors.push(invalidField('failed', 'must be a list of objects with leaseId and, where there is one, message'));
  errors.push(...Object.keys(others).map((name) => unknownField(`failed.${name}`)));
  const isReason =
    message === null || (typeof message === 'string' && message.length <= MAX_REASON && REASON.test(message));
  if (!isReason)
    errors.push(invalidField('failed.message', `must be text of up to ${MAX_REASON} characters without NUL`));
  return { leaseId, message: isReason ? message : null };
}

const isLeaseId = (value: unknown): boolean => typeof value === 'string' && value.length <= MAX_LEASE_ID;
