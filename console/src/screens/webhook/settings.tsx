import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useEventTypes } from '../../api/queries';
import { useSigned } from '../../api/signed';
import type { Webhook } from '../../api/types';
import { CopyButton } from '../../parts/copy';
import { Dialog } from '../../parts/dialog';
import { EventPicker } from '../../parts/event-picker';
import { Problem } from '../../parts/problem';
import { TEXT } from '../../text/en';

/** What a webhook is, its secret, and its end. */
export const WebhookSettings = ({ webhook }: { webhook: Webhook }) => (
  <>
    <Edit webhook={webhook} />
    <Rotate webhook={webhook} />
    <Delete webhook={webhook} />
  </>
);

function Edit({ webhook }: { webhook: Webhook }) {
  const { api, may } = useSigned();
  const queries = useQueryClient();
  const types = useEventTypes();
  const [url, setUrl] = useState(webhook.url);
  const [events, setEvents] = useState<readonly string[]>(webhook.events);
  const [description, setDescription] = useState(webhook.description ?? '');
  const save = useMutation({
    mutationFn: () =>
      api.send<Webhook>('PATCH', encoded`webhooks/${webhook.id}`, { url, events, description: description || null }),
    onSuccess: () => void queries.invalidateQueries(),
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <label>
        {TEXT.newWebhook.url}
        <input
          type="url"
          required
          maxLength={2048}
          value={url}
          onInput={({ currentTarget }) => setUrl(currentTarget.value)}
        />
      </label>
      <EventPicker types={types.data ?? []} chosen={events} onChange={setEvents} />
      <label>
        {TEXT.newWebhook.description}
        <input
          value={description}
          maxLength={256}
          onInput={({ currentTarget }) => setDescription(currentTarget.value)}
        />
      </label>
      {save.isError && <Problem error={save.error} />}
      <p class="actions">
        <button class="button main" disabled={!may('webhooks:write') || save.isPending}>
          {TEXT.webhook.save}
        </button>
        <span role="status">{save.isSuccess && TEXT.webhook.saved}</span>
      </p>
    </form>
  );
}

function Rotate({ webhook }: { webhook: Webhook }) {
  const { api, may } = useSigned();
  const queries = useQueryClient();
  const rotate = useMutation({
    mutationFn: () => api.send<{ secret: string }>('POST', encoded`webhooks/${webhook.id}/rotate-secret`, {}),
    onSuccess: () => void queries.invalidateQueries(),
  });
  return (
    <section class="message" aria-labelledby="rotate">
      <h2 id="rotate">{TEXT.newWebhook.theSecret}</h2>
      <p class="muted">{TEXT.webhook.rotateSays}</p>
      {rotate.isSuccess && (
        <div class="message" role="status">
          <p>{TEXT.newWebhook.secretOnce}</p>
          <pre tabIndex={0}>{rotate.data.secret}</pre>
          <CopyButton text={rotate.data.secret} />
        </div>
      )}
      {rotate.isError && <Problem error={rotate.error} />}
      <p class="actions">
        <button
          type="button"
          class="button"
          disabled={!may('webhooks:write') || rotate.isPending}
          onClick={() => rotate.mutate()}
        >
          {TEXT.webhook.rotate}
        </button>
      </p>
    </section>
  );
}

function Delete({ webhook }: { webhook: Webhook }) {
  const { api, may } = useSigned();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const { host } = new URL(webhook.url);
  const remove = useMutation({
    mutationFn: () => api.send('DELETE', encoded`webhooks/${webhook.id}`),
    onSuccess: () => {
      go('/');
      void queries.invalidateQueries();
    },
  });
  return (
    <section class="message" aria-labelledby="delete">
      <h2 id="delete">{TEXT.webhook.delete}</h2>
      <p class="muted">{TEXT.webhook.deleteSays}</p>
      <p class="actions">
        <button type="button" class="button" disabled={!may('webhooks:write')} onClick={() => setIsOpen(true)}>
          {TEXT.webhook.delete}
        </button>
      </p>
      {isOpen && (
        <Dialog title={TEXT.webhook.deleteThis} onClose={() => setIsOpen(false)}>
          <label>
            {TEXT.webhook.typeHost(host)}
            <input value={typed} autocomplete="off" onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
          </label>
          {remove.isError && <Problem error={remove.error} />}
          <p class="actions">
            <button type="button" class="button" onClick={() => setIsOpen(false)}>
              {TEXT.cancel}
            </button>
            <button
              type="button"
              class="button main"
              disabled={typed !== host || remove.isPending}
              onClick={() => remove.mutate()}
            >
              {TEXT.webhook.delete}
            </button>
          </p>
        </Dialog>
      )}
    </section>
  );
}
