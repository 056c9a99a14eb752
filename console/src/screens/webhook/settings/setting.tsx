import { useMutation, useQueryClient } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { encoded } from '../../../api/address';
import type { CallError } from '../../../api/call';
import { useSigned } from '../../../api/signed';
import type { Webhook, WebhookUpdate } from '../../../api/types';
import { ApiCall } from '../../../parts/api-call';
import { Form } from '../../../parts/form';
import { TEXT } from '../../../text/en';

export type Patch = Partial<WebhookUpdate>;

/** A value that one edits: the stored one until it is changed, and again after it is saved or discarded. */
export function useDraft<T>(stored: T): [value: T, set: (next: T) => void, reset: () => void] {
  const [draft, setDraft] = useState<{ value: T } | null>(null);
  return [draft ? draft.value : stored, (value) => setDraft({ value }), () => setDraft(null)];
}

/** A section of the settings: what it is for, and its fields. */
export function Section({ title, says, children }: { title: string; says: string; children: ComponentChildren }) {
  const id = useId();
  return (
    <section class="card setting" aria-labelledby={id}>
      <div class="setting-about">
        <h2 id={id}>{title}</h2>
        <p class="muted small">{says}</p>
      </div>
      {children}
    </section>
  );
}

/** A section that is saved by itself. */
export function Setting({
  title,
  says,
  webhook,
  patch,
  fault = null,
  fields,
  onReset,
  children,
  after,
}: {
  title: string;
  says: string;
  webhook: Webhook;
  /** The changed fields; empty without changes. */
  patch: Patch;
  /** Why the draft cannot be sent. */
  fault?: CallError | null;
  /** The fields that show their own errors. */
  fields: readonly (keyof WebhookUpdate)[];
  /** Called when the draft is saved or discarded. */
  onReset: () => void;
  /** @param error of the last attempt to save */
  children: (error: unknown) => ComponentChildren;
  /** Shown below the form. */
  after?: ComponentChildren;
}) {
  const { may } = useSigned();
  const save = useSave(webhook, onReset);
  const isChanged = fault !== null || Object.keys(patch).length > 0;
  const lacks = may('webhooks:write') ? null : TEXT.lacks('webhooks:write');
  // Save keeps the focus, which a disabled button would lose.
  const submit = () => {
    if (isChanged && !save.isPending) save.mutate(fault ?? patch);
  };
  const actions = (
    <div class="actions">
      <button class={isChanged ? 'button main' : 'button'} disabled={lacks !== null}>
        {TEXT.settings.save}
      </button>
      {isChanged && (
        <button
          type="button"
          class="button quiet"
          onClick={({ currentTarget }) => {
            currentTarget.form?.querySelector<HTMLElement>('button:not([type])')?.focus();
            onReset();
            save.reset();
          }}
        >
          {TEXT.settings.discard}
        </button>
      )}
      <span role="status" class="muted small">
        {save.isSuccess && !isChanged && TEXT.settings.saved}
      </span>
      {save.isSuccess && !isChanged && save.undo && (
        <button type="button" class="button quiet" onClick={save.undo}>
          {TEXT.undo}
        </button>
      )}
      {lacks && <span class="muted small">{lacks}</span>}
    </div>
  );
  return (
    <Section title={title} says={says}>
      <div class="stack">
        <Form error={save.error} fields={fields} onSubmit={submit} actions={actions}>
          {children(save.error)}
        </Form>
        {after}
        {isChanged && !fault && (
          <ApiCall method="PATCH" path={encoded`webhooks/${webhook.id}`} body={withoutSecrets(patch)} />
        )}
      </div>
    </Section>
  );
}

function useSave(webhook: Webhook, onSaved: () => void) {
  const { id } = webhook;
  const { api } = useSigned();
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: async (change: Patch | CallError) => {
      if (change instanceof Error) throw change;
      const reverse = reverseOf(webhook, change);
      return { saved: await api.send<Webhook>('PATCH', encoded`webhooks/${id}`, change), reverse };
    },
    onSuccess: ({ saved }) => {
      queries.setQueryData<Webhook>(['webhook', id], (before) => before && { ...before, ...saved });
      onSaved();
      void queries.invalidateQueries();
    },
  });
  const { reverse = null } = save.data ?? {};
  return { ...save, undo: reverse && (() => save.mutate(reverse)) };
}

/** Returns the update that takes a change back; null with headers, whose old values the page does not know. */
function reverseOf(before: Webhook, change: Patch): Patch | null {
  if (change.headers) return null;
  const fields = Object.keys(change) as (keyof Patch & keyof Webhook)[];
  return Object.fromEntries(fields.map((field) => [field, before[field]]));
}

/** The values of headers are not for a page that one may show to others. */
const withoutSecrets = (patch: Patch): Patch =>
  patch.headers
    ? {
        ...patch,
        headers: Object.fromEntries(Object.entries(patch.headers).map(([name, value]) => [name, value && '…'])),
      }
    : patch;
