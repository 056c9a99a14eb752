import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { encoded } from '../../../api/address';
import { useSigned } from '../../../api/signed';
import type { Webhook } from '../../../api/types';
import { ApiCall } from '../../../parts/api-call';
import { Dialog } from '../../../parts/dialog';
import { TextField } from '../../../parts/field';
import { Form } from '../../../parts/form';
import { plainOf } from '../../../parts/plain';
import { nameOf } from '../../../parts/webhook-name';
import { TEXT } from '../../../text/en';
import { Section } from './setting';

const TEXTS = TEXT.settings.delete;

/** Ends the webhook, after one has typed its name. */
export function DeleteWebhook({ webhook }: { webhook: Webhook }) {
  const { may } = useSigned();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Section title={TEXTS.title} says={TEXTS.says}>
      <p class="actions">
        <button type="button" class="button danger" disabled={!may('webhooks:write')} onClick={() => setIsOpen(true)}>
          {TEXTS.delete}
        </button>
        {!may('webhooks:write') && <span class="muted small">{TEXT.lacks('webhooks:write')}</span>}
      </p>
      {isOpen && <DeleteDialog webhook={webhook} onClose={() => setIsOpen(false)} />}
    </Section>
  );
}

function DeleteDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { api } = useSigned();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const name = typedName(webhook);
  const remove = useMutation({
    mutationFn: () => api.send('DELETE', encoded`webhooks/${webhook.id}`),
    onSuccess: () => {
      go('/webhooks');
      queries.removeQueries({ queryKey: ['webhook', webhook.id] });
      void queries.invalidateQueries();
    },
  });
  return (
    <Dialog title={TEXTS.deleteThis} onClose={onClose}>
      <p>{TEXTS.says}</p>
      <Form
        error={remove.error}
        fields={[]}
        onSubmit={() => remove.mutate()}
        actions={
          <div class="actions">
            <button type="button" class="button" onClick={onClose}>
              {TEXT.cancel}
            </button>
            <button class="button danger" disabled={spaced(typed) !== name || remove.isPending}>
              {TEXTS.delete}
            </button>
          </div>
        }
      >
        <TextField label={TEXTS.type(name)} autocomplete="off" spellcheck={false} value={typed} onValue={setTyped} />
      </Form>
      <ApiCall method="DELETE" path={encoded`webhooks/${webhook.id}`} />
    </Dialog>
  );
}

/** As a page shows it: without spaces at the ends, and with one for several. */
const spaced = (text: string): string => text.trim().replace(/\s+/g, ' ');

/** The description; without one the host, or the name of a pull webhook. */
const typedName = (webhook: Webhook): string =>
  spaced(plainOf(webhook.description ?? '')) || (webhook.url === null ? nameOf(webhook) : new URL(webhook.url).host);
