import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useEventTypes } from '../../api/queries';
import { useSigned } from '../../api/signed';
import type { DeliveryDetail, Page, Webhook } from '../../api/types';
import { ApiCall } from '../../parts/api-call';
import { Dialog } from '../../parts/dialog';
import { Problem } from '../../parts/problem';
import { TestOutcome } from '../../parts/test-outcome';
import { toast } from '../../parts/toasts';
import { isPull } from '../../parts/webhook-kind';
import { nameOf } from '../../parts/webhook-name';
import { TEXT } from '../../text/en';

/** What one can do to a webhook at once. */
export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const { may } = useSigned();
  const [isOpen, setIsOpen] = useState(false);
  const change = useActive(webhook);
  const cannot = !may('webhooks:write');
  return (
    <>
      <div class="actions">
        {!isPull(webhook) && <TestWebhook webhook={webhook} />}
        {webhook.active ? (
          <button type="button" class="button" disabled={cannot} onClick={() => setIsOpen(true)}>
            {TEXT.webhook.disable}
          </button>
        ) : (
          <button
            type="button"
            class="button"
            disabled={cannot || change.isPending}
            onClick={() => change.mutate(true)}
          >
            {TEXT.webhook.activate}
          </button>
        )}
        <Link class="button" href={encoded`/webhooks/${webhook.id}/repair`}>
          {TEXT.repair.title}
        </Link>
        {cannot && <span class="muted small">{TEXT.lacks('webhooks:write')}</span>}
      </div>
      {change.isError && <Problem error={change.error} />}
      {isOpen && <DisableDialog webhook={webhook} onClose={() => setIsOpen(false)} />}
    </>
  );
}

/** Says how much is canceled before it is. */
function DisableDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const pending = usePending(webhook);
  const change = useActive(webhook, pending !== '0');
  return (
    <Dialog title={TEXT.webhook.disableThis} onClose={onClose}>
      {pending !== null && <p>{TEXT.webhook.canceledWith(pending)}</p>}
      <p>{TEXT.webhook.disableSays}</p>
      {change.isError && <Problem error={change.error} />}
      <p class="actions">
        <button type="button" class="button" onClick={onClose}>
          {TEXT.cancel}
        </button>
        <button
          type="button"
          class="button main"
          disabled={change.isPending}
          onClick={() => change.mutate(false, { onSuccess: onClose })}
        >
          {TEXT.webhook.disable}
        </button>
      </p>
      <ApiCall method="PATCH" path={encoded`webhooks/${webhook.id}`} body={{ active: false }} />
    </Dialog>
  );
}

const MOST_PENDING = 250;

/** How many deliveries wait, in words; null as long as it is not known. */
function usePending({ id }: Webhook): string | null {
  const { api } = useSigned();
  const query = { status: 'pending', limit: MOST_PENDING };
  const pending = useQuery({
    queryKey: ['pending', id],
    queryFn: ({ signal }): Promise<Page<unknown>> => api.page(encoded`webhooks/${id}/deliveries`, query, { signal }),
  });
  if (!pending.data) return null;
  const { rows, nextCursor } = pending.data;
  return nextCursor ? `${rows.length}+` : String(rows.length);
}

/** Switches a webhook on or off. What was disabled can be activated again at once if nothing waited, and so nothing was canceled. */
export function useActive(webhook: Pick<Webhook, 'id'>, hasWaiting = true) {
  const { api } = useSigned();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (active: boolean) => api.send<Webhook>('PATCH', encoded`webhooks/${webhook.id}`, { active }),
    onSuccess: (changed) => {
      void queries.invalidateQueries();
      const name = nameOf(changed);
      if (changed.active) toast(TEXT.webhook.wasActivated(name));
      else toast(TEXT.webhook.wasDisabled(name), hasWaiting ? undefined : () => change.mutate(true));
    },
  });
  return change;
}

/**
 * Sends the example of an event at once, and says what came back.
 * @param event left out, it can be chosen
 */
export function TestWebhook({ webhook, event }: { webhook: Pick<Webhook, 'id'>; event?: string }) {
  const { api, may } = useSigned();
  const queries = useQueryClient();
  const types = useEventTypes();
  const [chosen, setChosen] = useState('');
  const name = event ?? chosen;
  const test = useMutation({
    mutationFn: () =>
      api.send<DeliveryDetail>('POST', encoded`webhooks/${webhook.id}/test`, name === '' ? {} : { event: name }),
    onSuccess: () => void queries.invalidateQueries(),
  });
  return (
    <span class="test">
      <button
        type="button"
        class="button main"
        disabled={!may('webhooks:write') || test.isPending}
        onClick={() => test.mutate()}
      >
        {event ? TEXT.webhook.testThis(event) : TEXT.webhook.test}
      </button>
      {event === undefined && (
        <select
          aria-label={TEXT.webhook.testWith}
          value={chosen}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        >
          <option value="">webhook.test</option>
          {types.data?.map((type) => (
            <option key={type.name} value={type.name}>
              {type.name}
            </option>
          ))}
        </select>
      )}
      {test.isSuccess && <TestOutcome test={test.data} />}
      {test.isError && <Problem error={test.error} />}
    </span>
  );
}
