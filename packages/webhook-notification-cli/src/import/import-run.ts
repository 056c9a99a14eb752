import { urlOf } from 'webhook-notification/cli';
import { type ApiSchema, type WebhookServiceClient, WebhookServiceError } from 'webhook-notification';
import { adviceOn, subscribable, unknownEvents } from './event-names';
import { actionFor, conflictOf, type Declaration, type ImportAction } from './import-action';
import type { Entry, Found, ImportSource, WantedWebhook } from './wanted-webhook';

type Webhook = ApiSchema<'Webhook'>;

export interface ImportOptions {
  /** Whether to activate what may be activated. */
  activate: boolean;
  /** The format of all; undefined: `payload` of new webhooks. */
  format: Webhook['format'] | undefined;
  /** Whether to do it, or only to say what would be done. */
  apply: boolean;
}

/** Requests under way at once, each with those to the other system. */
const AT_ONCE = 8;
/** A shorter value may be a part of any word of a message. */
const MIN_HIDDEN = 4;
/** More than a user may have. */
const MAX_EXISTING = 10_000;
const MORE_ROOM = 'Raise MAX_WEBHOOKS_PER_USER of the service or delete webhooks';
/** How many unknown event types the end lists. */
const MAX_LISTED = 50;

const PAST = { create: 'created', update: 'updated', activate: 'activated', same: 'unchanged', keep: 'kept' } as const;
const FUTURE = {
  ...{ create: 'would create', update: 'would update', activate: 'would activate' },
  ...{ same: 'unchanged', keep: 'kept' },
} as const;

type Kind = ImportAction['kind'] | 'refused' | 'deleted';

/** The outcome for one place of the list. */
interface Result {
  kind: Kind;
  lines: string[];
  /** Whether it does not work as before until a person acts. */
  needsPerson?: boolean;
}

/** Imports webhooks from another system, once. */
export class ImportRun {
  private readonly counts = new Map<Kind, number>();
  private readonly unknown = new Map<string, number>();
  private readonly seen = new Set<string>();
  private existing = new Map<string, Webhook>();
  /** How many more webhooks the user may have. */
  private room = Infinity;
  private known = new Set<string>();
  private needsPerson = false;

  /** @param print gets lines with texts from outside */
  constructor(
    private readonly client: WebhookServiceClient,
    private readonly source: ImportSource,
    private readonly options: ImportOptions,
    private readonly print: (line: string) => void,
  ) {}

  /**
   * Runs the import.
   * @returns the exit code: 1 when something was refused or stays inactive until a person acts
   * @throws Error when the rest would fail as well; a repetition continues
   */
  async run(): Promise<number> {
    this.known = subscribable((await this.client.eventTypes.list()).map(({ name }) => name));
    const { maxWebhooksPerUser } = await this.client.about();
    let count = 0;
    for await (const webhook of this.client.webhooks.all({ limit: 250 })) {
      if (webhook.externalId !== null) this.existing.set(webhook.externalId, webhook);
      if ((count += 1) > MAX_EXISTING) throw new Error(`The service lists more than ${MAX_EXISTING} webhooks.`);
    }
    this.room = maxWebhooksPerUser - count;
    for await (const entries of this.source.entries())
      for (let at = 0; at < entries.length; at += AT_ONCE) await this.importPart(entries.slice(at, at + AT_ONCE));
    this.reportVanished();
    this.reportEnd();
    return this.needsPerson ? 1 : 0;
  }

  private async importPart(entries: readonly Entry[]): Promise<void> {
    const settled = await Promise.allSettled(entries.map(async (entry) => this.importOne(await entry())));
    // In the order of the list, and also those that were done beside the one that failed.
    for (const each of settled) if (each.status === 'fulfilled') this.report(each.value);
    const failed = settled.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
  }

  private async importOne(found: Found): Promise<Result> {
    if (found.kind === 'deleted') {
      this.seen.add(found.name);
      return { kind: 'deleted', lines: [`skipped  ${found.name}  was deleted meanwhile`] };
    }
    if (found.kind === 'refused') {
      this.seen.add(found.name);
      return refusal(found.name, found.reason);
    }
    const { webhook } = found;
    this.seen.add(webhook.externalId);
    const existing = this.existing.get(webhook.externalId);
    const action = actionFor(webhook, existing, this.options);
    const unknown = action.declaration ? unknownEvents(webhook.events, this.known, existing?.events ?? []) : [];
    for (const event of unknown) this.unknown.set(event, (this.unknown.get(event) ?? 0) + 1);
    if (unknown.length > 0) return refusal(nameOf(webhook), `unknown event types: ${unknown.join(', ')}`);
    if (!action.declaration) return this.result(webhook, action, action.kind);
    const conflict = existing ? conflictOf(existing, action.declaration) : null;
    if (conflict !== null) return refusal(nameOf(webhook), conflict);
    try {
      if (!this.options.apply) await this.validate(webhook.externalId, action.declaration);
      if (!this.options.apply) return this.result(webhook, action, action.kind);
      const saved = await this.client.webhooks.save(webhook.externalId, action.declaration);
      return this.result(webhook, action, outcomeOf(existing, saved));
    } catch (error) {
      return refusal(nameOf(webhook), reasonOf(error, webhook));
    }
  }

  /**
   * Lets the service validate a webhook that it cannot save, because its kind does not exist: the answer names all invalid fields.
   * @throws WebhookServiceError as when it is saved
   */
  private async validate(externalId: string, declaration: Declaration): Promise<void> {
    try {
      await this.client.webhooks.save(externalId, { ...declaration, kind: 'dry run' as 'push' });
    } catch (error) {
      if (!(error instanceof WebhookServiceError) || !error.details.some(({ field }) => field === 'kind')) throw error;
      const details = error.details.filter(({ field }) => field !== 'kind');
      if (details.length === 0) return;
      const { message, status, requestId, code, fromService } = error;
      throw new WebhookServiceError(message, status, requestId, { code, fromService, details });
    }
  }

  private result(webhook: WantedWebhook, action: ImportAction, kind: ImportAction['kind']): Result {
    const isNew = kind === 'create';
    const words = this.options.apply ? PAST : FUTURE;
    const fields = action.changes.length > 0 && kind !== 'same' ? `  (${action.changes.join(', ')})` : '';
    const obstacles = action.obstacles.map((obstacle) => `  stays inactive: ${obstacle}`);
    const notes = isNew ? webhook.notes.map((note) => `  note: ${note}`) : [];
    const disabled = isNew && webhook.isDisabled ? ['  stays inactive: it is disabled there'] : [];
    const isQuiet = (kind === 'same' || kind === 'keep') && (obstacles.length === 0 || !this.options.activate);
    return {
      kind,
      lines: isQuiet ? [] : [`${words[kind]}  ${nameOf(webhook)}${fields}`, ...disabled, ...obstacles, ...notes],
      needsPerson: this.options.activate && action.obstacles.length > 0 && !webhook.isDisabled,
    };
  }

  private report({ kind, lines, needsPerson = false }: Result): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    this.needsPerson ||= needsPerson;
    for (const line of lines) this.print(line);
  }

  /** Reports webhooks of earlier runs that are no longer in the list. Deleting them is the decision of a person. */
  private reportVanished(): void {
    const { prefix } = this.source;
    if (prefix === undefined) return;
    for (const externalId of this.existing.keys())
      if (externalId.startsWith(prefix) && !this.seen.has(externalId))
        this.print(
          `gone  ${externalId}  is no longer there, and stays here: DELETE /api/webhooks/external/${externalId} deletes it`,
        );
  }

  private reportEnd(): void {
    const listed = [...this.unknown].sort(([, a], [, b]) => b - a).slice(0, MAX_LISTED);
    if (listed.length > 0) this.print('Unknown event types:');
    for (const [event, count] of listed) this.print(`  ${adviceOn(event)} (${count} webhooks)`);
    if (this.unknown.size > listed.length) this.print(`  and ${this.unknown.size - listed.length} more`);
    const words: Record<Kind, string> = {
      ...(this.options.apply ? PAST : FUTURE),
      refused: 'refused',
      deleted: 'skipped',
    };
    const counts = (Object.keys(words) as Kind[])
      .filter((kind) => this.counts.has(kind))
      .map((kind) => `${words[kind]} ${this.counts.get(kind)}`);
    this.print(counts.length > 0 ? `${counts.join(', ')}.` : 'There is nothing to import.');
    if (this.options.apply) return;
    if ((this.counts.get('create') ?? 0) > this.room) {
      this.needsPerson = true;
      this.print(`The user may have only ${Math.max(this.room, 0)} more webhooks. ${MORE_ROOM}.`);
    }
    this.print('Nothing has changed. Repeat the command with --yes to do it.');
  }
}

const refusal = (name: string, reason: string): Result => ({
  kind: 'refused',
  lines: [`refused  ${name}  ${reason}`],
  needsPerson: true,
});

/** Without path and query, which often contain secrets. */
const nameOf = ({ externalId, url }: WantedWebhook): string =>
  `${externalId}  ${urlOf(url)?.origin ?? 'without a valid url'}`;

/** A response with a secret says that the webhook is new. Nothing of the secret is kept. */
function outcomeOf(existing: Webhook | undefined, saved: Webhook | ApiSchema<'CreatedWebhook'>): ImportAction['kind'] {
  if (!existing || 'secret' in saved) return 'create';
  if (saved.active && !existing.active) return 'activate';
  return saved.updatedAt === existing.updatedAt ? 'same' : 'update';
}

/**
 * Returns why the service refuses a webhook.
 * @throws Error when it would refuse or fail all others as well
 */
function reasonOf(error: unknown, webhook: WantedWebhook): string {
  if (!(error instanceof WebhookServiceError)) throw error;
  const { status, code, details, fromService } = error;
  const message = withoutSecrets(
    details.length > 0 ? details.map((each) => each.message).join('; ') : error.message,
    webhook,
  );
  if (code === 'webhook_limit_reached')
    throw new Error(`${message}\nThe import stops here. ${MORE_ROOM}, then repeat the command: it continues.`);
  if (fromService && (status === 400 || status === 409 || status === 413)) return message;
  throw new Error(`${message}\nThe import stops here. Repeat the command: it continues.`);
}

/** A service or a proxy may repeat in its error what it was sent. */
function withoutSecrets(message: string, { secret, headers = {}, url }: WantedWebhook): string {
  const hidden = [secret ?? '', ...Object.values(headers), url].filter((text) => text.length >= MIN_HIDDEN);
  return hidden.reduce((text, each) => text.replaceAll(each, '•••'), message);
}
