import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { useLocation, useSearchParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useAbout, useEventTypes } from '../api/queries';
import { useSigned } from '../api/signed';
import type { CreatedWebhook, DeliveryDetail, EventType, TryReceiver } from '../api/types';
import { ApiCall } from '../parts/api-call';
import { covers } from '../parts/event-names';
import { EventPicker } from '../parts/event-picker';
import { faultAt } from '../parts/faults';
import { TextField } from '../parts/field';
import { Form } from '../parts/form';
import { Heading } from '../parts/heading';
import { plainOf } from '../parts/plain';
import { Problem } from '../parts/problem';
import { SecretDialog } from '../parts/secret-dialog';
import { TestOutcome } from '../parts/test-outcome';
import { useLeaveWarning } from '../parts/use-leave-warning';
import { secretsOfReceivers } from '../parts/use-try-now';
import { TEXT } from '../text/en';

interface NewWebhook {
  url: string;
  events: readonly string[];
  secret: string;
  description: string;
}

/** A URL, its events, and its secret, which is shown once. */
export function NewWebhookScreen() {
  const { may } = useSigned();
  const [, go] = useLocation();
  const [search] = useSearchParams();
  const types = useEventTypes();
  const preset = search.get('events');
  const [form, setForm] = useState<NewWebhook>({
    url: '',
    events: preset ? [preset] : [],
    secret: '',
    description: '',
  });
  const change = (next: Partial<NewWebhook>) => setForm((before) => ({ ...before, ...next }));
  const { url, events, secret, description } = form;
  const body = { url, events, ...(secret && { secret }), ...(description && { description }) };
  const create = useCreate();
  useLeaveWarning(create.isPending);
  const lacks = may('webhooks:write') ? null : TEXT.lacks('webhooks:write');
  const actions = (
    <div class="actions">
      <button class="button main" value="create" disabled={lacks !== null || create.isPending}>
        {TEXT.newWebhook.create}
      </button>
      <button class="button" value="test" disabled={lacks !== null || create.isPending}>
        {TEXT.newWebhook.createAndTest}
      </button>
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
            fields={['url', 'events', 'description', 'secret']}
            onSubmit={(submitter) => create.mutate({ body, isTested: submitter === 'test' })}
            actions={actions}
          >
            <Fields form={form} onChange={change} error={create.error} types={types.data ?? []} />
          </Form>
          <ApiCall method="POST" path="webhooks" body={{ ...body, ...(secret && { secret: '…' }) }} />
        </div>
        <Preview types={types.data ?? []} events={events} />
      </div>
      {create.isSuccess && <Created {...create.data} />}
    </>
  );
}

function useCreate() {
  const { api } = useSigned();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ body, isTested }: { body: object; isTested: boolean }) => {
      const webhook = await api.send<CreatedWebhook>('POST', 'webhooks', body);
      if (webhook.url !== null) secretsOfReceivers.set(webhook.url, webhook.secret);
      void queries.invalidateQueries();
      return { webhook, isTested };
    },
  });
}

function Fields({
  form: { url, events, secret, description },
  onChange,
  error,
  types,
}: {
  form: NewWebhook;
  onChange: (next: Partial<NewWebhook>) => void;
  error: unknown;
  types: readonly EventType[];
}) {
  return (
    <>
      <TextField
        label={TEXT.newWebhook.url}
        hint={hintOf(url)}
        error={faultAt(error, 'url')}
        type="url"
        required
        placeholder="https://"
        spellcheck={false}
        value={url}
        onValue={(next) => onChange({ url: next })}
      />
      <UseReceiver onUrl={(next) => onChange({ url: next })} />
      <EventPicker
        types={types}
        chosen={events}
        onChange={(next) => onChange({ events: next })}
        error={faultAt(error, 'events')}
      />
      <TextField
        label={TEXT.newWebhook.description}
        error={faultAt(error, 'description')}
        value={description}
        onValue={(next) => onChange({ description: next })}
      />
      <TextField
        label={TEXT.newWebhook.secret}
        hint={TEXT.newWebhook.secretSays}
        error={faultAt(error, 'secret')}
        autocomplete="off"
        spellcheck={false}
        value={secret}
        onValue={(next) => onChange({ secret: next })}
      />
    </>
  );
}

/** Fills in the address of the receiver inside this service, where there is one. */
function UseReceiver({ onUrl }: { onUrl: (url: string) => void }) {
  const { api, may } = useSigned();
  const about = useAbout();
  const make = useMutation({
    mutationFn: () => api.send<TryReceiver>('POST', 'try-receivers'),
    onSuccess: ({ url }) => onUrl(url),
  });
  if (!about?.tryReceiver) return null;
  return (
    <p>
      <button
        type="button"
        class="button"
        disabled={!may('webhooks:write') || make.isPending}
        onClick={() => make.mutate()}
      >
        {TEXT.newWebhook.useReceiver}
      </button>
      {make.isError && <Problem error={make.error} />}
    </p>
  );
}

/** What the receiver will get. */
function Preview({ types, events }: { types: readonly EventType[]; events: readonly string[] }) {
  const type = types.find(({ name }) => events.some((each) => covers(each, name))) ?? types[0];
  if (!type) return null;
  const body = { id: '0199c3a4-…', event: type.name, createdAt: '2026-01-31T12:00:00.000Z', data: type.example };
  const headers = ['content-type: application/json', `x-service-event: ${type.name}`];
  const signatures = ['x-service-signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return (
    <section class="message" aria-labelledby="preview">
      <h2 id="preview">{TEXT.newWebhook.preview}</h2>
      <pre tabIndex={0}>
        {[...headers, ...signatures.map((name) => `${name}: …`), '', plainOf(JSON.stringify(body, null, 2))].join('\n')}
      </pre>
    </section>
  );
}

/** What a URL still lacks while one types it. */
function hintOf(url: string): string | null {
  if (url === '') return null;
  const parsed = URL.parse(url);
  if (!parsed) return TEXT.newWebhook.noUrl;
  return /^https?:$/.test(parsed.protocol) ? null : TEXT.newWebhook.noHttp;
}

/** The secret, and the outcome of the test, until one has copied the secret. */
function Created({ webhook, isTested }: { webhook: CreatedWebhook; isTested: boolean }) {
  const { api } = useSigned();
  const [, go] = useLocation();
  const test = useMutation({
    mutationFn: () => api.send<DeliveryDetail>('POST', encoded`webhooks/${webhook.id}/test`, {}),
  });
  useEffect(() => {
    if (isTested) test.mutate();
  }, []);
  return (
    <SecretDialog
      title={TEXT.newWebhook.created}
      secret={webhook.secret}
      standardSecret={webhook.standardSecret}
      onDone={() => go(encoded`/webhooks/${webhook.id}`)}
    >
      {test.isPending && <p role="status">{TEXT.settings.secret.testing}</p>}
      {test.isSuccess && <TestOutcome test={test.data} isLinked={false} />}
      {test.isError && <Problem error={test.error} />}
    </SecretDialog>
  );
}
