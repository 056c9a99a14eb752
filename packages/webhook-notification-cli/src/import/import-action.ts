import { urlOf } from 'webhook-notification/cli';
import type { ApiSchema } from 'webhook-notification';
import type { WantedWebhook } from './wanted-webhook';

type Webhook = ApiSchema<'Webhook'>;
export type Declaration = ApiSchema<'WebhookDeclaration'> & { url: string };

/** What an import does about a webhook. */
export interface ImportAction {
  kind: 'create' | 'update' | 'activate' | 'same' | 'keep';
  /** What is declared with `PUT`; null for `keep`. */
  declaration: Declaration | null;
  /** Visible fields that change, for `update` and `activate`. */
  changes: readonly string[];
  /** Why `--activate` leaves it inactive. */
  obstacles: readonly string[];
}

const KEEP = { kind: 'keep', declaration: null, changes: [] } as const;

/**
 * Returns what to do about a webhook that another system has. One that is active here, or that the service disabled, is
 * in use here: it stays as it is, also when the other system has other values.
 */
export function actionFor(
  wanted: WantedWebhook,
  existing: Webhook | undefined,
  { activate, format }: { activate: boolean; format?: Webhook['format'] },
): ImportAction {
  if (existing?.active) return { ...KEEP, obstacles: [] };
  if (existing && existing.disabledReason !== null)
    return {
      ...KEEP,
      obstacles: [`the service has disabled it here (${existing.disabledReason}): activate it yourself`],
    };
  const obstacles = [...wanted.obstacles, ...missingHeaders(wanted, existing)];
  const isActivated = activate && !wanted.isDisabled && obstacles.length === 0;
  const declaration = {
    ...declarationOf(wanted, existing),
    format: format ?? existing?.format ?? 'payload',
    ...activity(isActivated, existing),
  };
  const changes = existing ? changedFields(existing, declaration) : [];
  const kind = !existing ? 'create' : isActivated ? 'activate' : changes.length > 0 ? 'update' : 'same';
  return { kind, declaration, changes, obstacles };
}

/** Returns why the service would not change an existing webhook to this declaration, as far as the API shows it. */
export function conflictOf(existing: Webhook, { url, headers }: Declaration): string | null {
  if (existing.kind === 'pull') return 'the webhook with this external id is a pull webhook, which stays one';
  const names = Object.keys(existing.headers);
  const isMoved = urlOf(url)?.origin !== urlOf(existing.url ?? '')?.origin;
  if (headers !== undefined || names.length === 0 || !isMoved) return null;
  return `its url leads to another origin, which must not get the headers ${names.join(', ')} that it has here: set or remove them`;
}

function declarationOf(wanted: WantedWebhook, existing: Webhook | undefined): Declaration {
  const { url, secret, description, metadata, maxPerSecond } = wanted;
  const headers = headersOf(wanted, existing);
  return {
    // What the other system does not have stays as its owner has set it here.
    ...(existing && fieldsOf(existing)),
    ...{ url, events: [...wanted.events], description, metadata, maxPerSecond },
    ...(secret !== undefined && { secret }),
    ...(headers && { headers }),
  };
}

const fieldsOf = ({ filter, timeoutMs, retryDelaysMs }: Webhook) => ({ filter, timeoutMs, retryDelaysMs });

function activity(isActivated: boolean, existing: Webhook | undefined): { active?: boolean } {
  if (isActivated) return { active: true };
  return existing ? {} : { active: false };
}

/** Returns the headers to declare, which replace all; undefined keeps those that the webhook has. */
function headersOf({ headers, hiddenHeaders }: WantedWebhook, existing: Webhook | undefined) {
  const isSetByHand = hiddenHeaders.some((name) => existing && hasHeader(existing, name));
  return isSetByHand ? undefined : headers;
}

function missingHeaders({ hiddenHeaders }: WantedWebhook, existing: Webhook | undefined): string[] {
  return hiddenHeaders
    .filter((name) => !existing || !hasHeader(existing, name))
    .map((name) => `the value of its header ${name} is hidden: set the header here`);
}

const hasHeader = ({ headers }: Webhook, name: string): boolean =>
  Object.keys(headers).some((each) => each.toLowerCase() === name.toLowerCase());

/** Returns the fields that differ, as far as the API shows values: not those of secrets and headers. */
function changedFields(existing: Webhook, declaration: Declaration): string[] {
  const { url, events, description, metadata, maxPerSecond, format, headers } = declaration;
  const differs: Record<string, boolean> = {
    url: canonical(url) !== existing.url,
    events: JSON.stringify(events) !== JSON.stringify(existing.events),
    description: (description ?? null) !== existing.description,
    metadata: textOf(metadata ?? {}) !== textOf(existing.metadata),
    maxPerSecond: (maxPerSecond ?? null) !== existing.maxPerSecond,
    format: format !== existing.format,
    headers: headers != null && namesOf(headers) !== namesOf(existing.headers),
  };
  return Object.keys(differs).filter((field) => differs[field]);
}

const canonical = (url: string): string => urlOf(url)?.href ?? url;

const textOf = (labels: Readonly<Record<string, unknown>>): string => JSON.stringify(Object.entries(labels).sort());

const namesOf = (headers: Readonly<Record<string, unknown>>): string => Object.keys(headers).sort().join();
