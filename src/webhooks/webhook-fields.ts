import type { FieldError } from 'webhook-notification/catalogue';
import { ApiError } from '../infrastructure/errors/api-error';
import { DATA_FORMATS, isOfData } from './formats/event-format';

/** How a webhook's events reach its owner: the service calls a url, or consumers lease them. A webhook keeps its kind. */
export const WEBHOOK_KINDS = ['push', 'pull'] as const;
export type WebhookKind = (typeof WEBHOOK_KINDS)[number];

/** What follows from a field that owners set. */
interface Settable {
  /** Its value when a new webhook or a declaration leaves it out. Without one, the service chooses or keeps the value. */
  default?: unknown;
  /** The only kind of webhooks that has it. */
  kind?: WebhookKind;
  /** A declaration of an existing webhook that leaves it out keeps it. */
  kept?: true;
  /** Every attempt reads it from the row. */
  readByAttempts?: true;
}

/**
 * The fields that owners set; dto/webhook-fields.dto.ts declares what each may be. `etag`s depend on their order: append new ones
 * before `active`.
 */
export const SETTABLE = {
  url: { kind: 'push', readByAttempts: true },
  events: {},
  secret: {},
  description: { default: null },
  metadata: { default: {} },
  externalId: { default: null },
  filter: { default: null },
  format: { default: 'native', kept: true, readByAttempts: true },
  headers: { kind: 'push', readByAttempts: true },
  timeoutMs: { default: null, kind: 'push', readByAttempts: true },
  retryDelaysMs: { default: null, readByAttempts: true },
  maxPerSecond: { default: null, kind: 'push', readByAttempts: true },
  idleSeconds: { default: null, kind: 'pull' },
  fields: { default: null, kept: true, readByAttempts: true },
  active: { readByAttempts: true },
} as const satisfies Record<string, Settable>;

export type SettableName = keyof typeof SETTABLE;
type Settings = Partial<Record<SettableName, unknown>>;

export type ReadByAttempts = {
  [Name in SettableName]: (typeof SETTABLE)[Name] extends { readByAttempts: true } ? Name : never;
}[SettableName];

const RULES = Object.entries<Settable>(SETTABLE) as [SettableName, Settable][];
export const SETTABLE_NAMES = RULES.map(([name]) => name);
/** The fields that responses show and an `etag` stands for. */
export const SHOWN = SETTABLE_NAMES.filter((name) => name !== 'secret');
/** Fields that are not in an `etag` while they are null: version 0.3 did not have them. */
export const ADDED = RULES.filter(([, rule]) => rule.kept && rule.default === null).map(([name]) => name);
export const READ_BY_ATTEMPTS = RULES.filter(([, rule]) => rule.readByAttempts).map(([name]) => name);

export function fieldsOf<Row extends object, Name extends keyof Row>(
  row: Row,
  names: readonly Name[],
): Pick<Row, Name> {
  const fields: Partial<Row> = {};
  for (const name of names) fields[name] = row[name];
  return fields as Pick<Row, Name>;
}

/**
 * Returns all fields as a request sets them, absent ones with their default or undefined.
 * @param exists true for a declaration of an existing webhook, which keeps some fields
 */
export const withDefaults = (wanted: Settings, exists = false): Settings =>
  Object.fromEntries(
    RULES.map(([name, rule]) => {
      const isKept = exists && rule.kept && wanted[name] === undefined;
      return [name, isKept ? undefined : (wanted[name] ?? rule.default)];
    }),
  );

const invalidField = (field: string, rule: string): FieldError => ({
  field,
  code: 'invalid',
  message: `${field} ${rule}`,
});

/**
 * Returns the errors of fields that webhooks of this kind do not have, and of formats that do not fit. Null counts as absent.
 * @param before the fields of an existing webhook, which absent ones keep
 */
export const kindErrors = (kind: WebhookKind, fields: Settings, before: Settings = {}): FieldError[] => [
  ...RULES.filter(([name, { kind: only = kind }]) => only !== kind && (fields[name] ?? null) !== null).map(
    ([field, { kind: only }]) => invalidField(field, `is only for webhooks of kind ${only}`),
  ),
  ...formatErrors(
    kind,
    fields.format ?? before.format ?? SETTABLE.format.default,
    fields.fields === undefined ? before.fields : fields.fields,
  ),
];

function formatErrors(kind: WebhookKind, format: unknown, fields: unknown): FieldError[] {
  if (isOfData(format)) return [];
  const formats = DATA_FORMATS.join(', ');
  return [
    ...(kind === 'pull' ? [invalidField('format', `of a pull webhook must be one of ${formats}`)] : []),
    ...((fields ?? null) === null
      ? []
      : [invalidField('fields', `is only for webhooks whose format is one of ${formats}`)]),
  ];
}

export function requireKind(kind: WebhookKind, fields: Settings, before?: Settings): void {
  const errors = kindErrors(kind, fields, before);
  if (errors.length > 0) throw ApiError.invalid(...errors);
}
