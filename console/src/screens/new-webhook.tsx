import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { Link, useLocation, useSearchParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useAbout, useEventTypes } from '../api/queries';
import { useSigned } from '../api/signed';
import type { CreatedWebhook, DeliveryDetail, EventType, TryReceiver } from '../api/types';
import { ApiCall } from '../parts/api-call';
import { CopyButton } from '../parts/copy';
import { covers } from '../parts/event-names';
import { EventPicker } from '../parts/event-picker';
import { Heading } from '../parts/heading';
import { plainOf } from '../parts/plain';
import { Problem } from '../parts/problem';
import { TestOutcome } from '../parts/test-outcome';
import { secretsOfReceivers } from '../parts/use-try-now';
import { TEXT } from '../text/en';

/** A url, what it is told of, and its secret, which is shown once. */
export function NewWebhookScreen() {
  const { api, may } = useSigned();
  const [, go] = useLocation();
  const [search] = useSearchParams();
  const queries = useQueryClient();
  const types = useEventTypes();
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState<readonly string[]>([search.get('events') ?? '*']);
  const [secret, setSecret] = useState('');
  const [description, setDescription] = useState('');
  const body = { url, events, ...(secret && { secret }), ...(description && { description }) };
  const create = useMutation({
    mutationFn: async (isTested: boolean) => {
      const webhook = await api.send<CreatedWebhook>('POST', 'webhooks', body);
      secretsOfReceivers.set(webhook.url, webhook.secret);
      void queries.invalidateQueries();
      const test = isTested ? await api.send<DeliveryDetail>('POST', encoded`webhooks/${webhook.id}/test`, {}) : null;
      return { webhook, test };
    },
  });

  if (create.isSuccess) return <Created {...create.data} />;
  const lacks = may('webhooks:write') ? null : TEXT.lacks('webhooks:write');
  return (
    <>
      <Heading title={TEXT.newWebhook.title} />
      <div class="two">
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            create.mutate((event as SubmitEvent).submitter?.getAttribute('value') === 'test');
          }}
        >
          <label>
            {TEXT.newWebhook.url}
            <input
              type="url"
              required
              maxLength={2048}
              placeholder="https://"
              aria-describedby="url-error"
              value={url}
              onInput={({ currentTarget }) => setUrl(currentTarget.value)}
            />
          </label>
          <p id="url-error" role="status" class="small">
            {errorOf(url)}
          </p>
          <UseReceiver onUrl={setUrl} />
          <EventPicker types={types.data ?? []} chosen={events} onChange={setEvents} />
          <label>
            {TEXT.newWebhook.description}
            <input
              value={description}
              maxLength={256}
              onInput={({ currentTarget }) => setDescription(currentTarget.value)}
            />
          </label>
          <label>
            {TEXT.newWebhook.secret}
            <input
              value={secret}
              autocomplete="off"
              spellcheck={false}
              maxLength={256}
              onInput={({ currentTarget }) => setSecret(currentTarget.value)}
            />
            <span class="muted small">{TEXT.newWebhook.secretSays}</span>
          </label>
          {create.isError && <Problem error={create.error} />}
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
          <ApiCall method="POST" path="webhooks" body={{ ...body, ...(secret && { secret: '…' }) }} />
        </form>
        <Preview types={types.data ?? []} events={events} />
      </div>
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
  const type = types.find(({ name }) => events.some((each) => covers(each, name)));
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

function errorOf(url: string): string | null {
  if (url === '') return null;
  const parsed = URL.parse(url);
  if (!parsed) return TEXT.newWebhook.noUrl;
  return /^https?:$/.test(parsed.protocol) ? null : TEXT.newWebhook.noHttp;
}

const Created = ({ webhook, test }: { webhook: CreatedWebhook; test: DeliveryDetail | null }) => (
  <>
    <Heading title={TEXT.newWebhook.created} />
    <section class="message" aria-labelledby="secret">
      <h2 id="secret">{TEXT.newWebhook.theSecret}</h2>
      <p>{TEXT.newWebhook.secretOnce}</p>
      <pre tabIndex={0}>{webhook.secret}</pre>
      <CopyButton text={webhook.secret} />
    </section>
    {test && <TestOutcome test={test} />}
    <p class="actions">
      <Link class="button main" href={encoded`/webhooks/${webhook.id}`}>
        {TEXT.newWebhook.goOn}
      </Link>
    </p>
  </>
);
