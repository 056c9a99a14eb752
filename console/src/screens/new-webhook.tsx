import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useLocation, useSearchParams } from 'wouter-preact';
import { useEventTypes } from '../api/queries';
import { useSigned } from '../api/signed';
import type { CreatedWebhook } from '../api/types';
import { ApiCall } from '../parts/api-call';
import { Form } from '../parts/form';
import { Heading } from '../parts/heading';
import { invalid } from '../parts/invalid';
import { useLeaveWarning } from '../parts/use-leave-warning';
import { secretsOfReceivers } from '../parts/use-try-now';
import { TEXT } from '../text/en';
import { CreatedWebhookDialog } from './new-webhook/created-webhook';
import { bodyOf, type Entered } from './new-webhook/new-body';
import { RequestPreview } from './new-webhook/request-preview';
import { WebhookFields } from './new-webhook/webhook-fields';

const FIELDS = ['url', 'idleSeconds', 'events', 'description', 'secret'];
const EMPTY: Entered = { kind: 'push', url: '', events: [], secret: '', description: '', idleSeconds: '' };

/** A URL or none, the events, and the secret, which is shown once. */
export function NewWebhookScreen() {
  const { may } = useSigned();
  const [, go] = useLocation();
  const [search] = useSearchParams();
  const types = useEventTypes();
  const preset = search.get('events');
  const [form, setForm] = useState<Entered>({ ...EMPTY, events: preset ? [preset] : [] });
  const create = useCreate();
  useLeaveWarning(create.isPending);
  const change = (next: Partial<Entered>) => {
    // Messages about the fields of the other kind.
    if (next.kind) create.reset();
    setForm((before) => ({ ...before, ...next }));
  };
  const { kind, events, secret } = form;
  const body = bodyOf(form);
  const lacks = may('webhooks:write') ? null : TEXT.lacks('webhooks:write');
  const actions = (
    <div class="actions">
      <button class="button main" value="create" disabled={lacks !== null || create.isPending}>
        {TEXT.newWebhook.create}
      </button>
      {kind === 'push' && (
        <button class="button" value="test" disabled={lacks !== null || create.isPending}>
          {TEXT.newWebhook.createAndTest}
        </button>
      )}
      <button type="button" class="button quiet" onClick={() => go('/')}>
        {TEXT.cancel}
      </button>
      {lacks && <span class="muted small">{lacks}</span>}
    </div>
  );
  return (
    <>
      <Heading title={TEXT.newWebhook.title} />
      <div class="two">
        <div class="stack">
          <Form
            error={create.error}
            fields={FIELDS}
            onSubmit={(submitter) => create.mutate({ body, isTested: submitter === 'test' })}
            actions={actions}
          >
            <WebhookFields form={form} onChange={change} error={create.error} types={types.data ?? []} />
          </Form>
          <ApiCall method="POST" path="webhooks" body={{ ...body, ...(secret && { secret: '…' }) }} />
        </div>
        <RequestPreview kind={kind} types={types.data ?? []} events={events} />
      </div>
      {create.isSuccess && <CreatedWebhookDialog {...create.data} />}
    </>
  );
}

function useCreate() {
  const { api } = useSigned();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ body, isTested }: { body: ReturnType<typeof bodyOf>; isTested: boolean }) => {
      if ('idleSeconds' in body && Number.isNaN(body.idleSeconds))
        throw invalid('idleSeconds', TEXT.settings.limits.notNumber);
      const webhook = await api.send<CreatedWebhook>('POST', 'webhooks', body);
      if (webhook.url !== null) secretsOfReceivers.set(webhook.url, webhook.secret);
      void queries.invalidateQueries();
      return { webhook, isTested };
    },
  });
}
