import type { FieldError } from 'webhook-notification/catalogue';
import { ApiError } from '../infrastructure/errors/api-error';

/** How a webhook's events reach its owner: the service calls a url, or consumers lease them. A webhook keeps its kind. */
export const WEBHOOK_KINDS = ['push', 'pull'] as const;
export type WebhookKind = (typeof WEBHOOK_KINDS)[number];

export const MIN_IDLE_SECONDS = 60;
export const MAX_IDLE_SECONDS = 604_800;

const ONLY_PUSH = ['url', 'headers', 'format', 'timeoutMs', 'maxPerSecond'] as const;
const ONLY_PULL = ['idleSeconds'] as const;

/** Returns the errors of fields that webhooks of this kind do not have. Null counts as absent. */
export function kindErrors(kind: WebhookKind, fields: object): FieldError[] {
  const [refused, other] = kind === 'pull' ? [ONLY_PUSH, 'push'] : [ONLY_PULL, 'pull'];
  return refused
    .filter((field) => ((fields as Record<string, unknown>)[field] ?? null) !== null)
    .map((field) => ({ field, code: 'invalid', message: `${field} is only for webhooks of kind ${other}` }));
}

/** @throws ApiError 400 for fields that webhooks of this kind do not have */
export function requireKind(kind: WebhookKind, fields: object): void {
  const errors = kindErrors(kind, fields);
  if (errors.length > 0) throw ApiError.invalid(...errors);
}
