import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { encoded } from '../../../api/address';
import { useSigned } from '../../../api/signed';
import type { RotatedSecret, Webhook } from '../../../api/types';
import { ApiCall } from '../../../parts/api-call';
import { Dialog } from '../../../parts/dialog';
import { faultAt } from '../../../parts/faults';
import { TextField } from '../../../parts/field';
import { Form } from '../../../parts/form';
import { invalid } from '../../../parts/invalid';
import { SecretDialog } from '../../../parts/secret-dialog';
import { Ago, At, useNow } from '../../../parts/time';
import { useLeaveWarning } from '../../../parts/use-leave-warning';
import { secretsOfReceivers } from '../../../parts/use-try-now';
import { TEXT } from '../../../text/en';
import { Section } from './setting';

const TEXTS = TEXT.settings.secret;
const HOUR_MS = 3_600_000;

/** When the secret was made, and a dialog that replaces it. */
export function RotateSecret({ webhook }: { webhook: Webhook }) {
  const { may } = useSigned();
  const [isOpen, setIsOpen] = useState(false);
  const [rotated, setRotated] = useState<RotatedSecret | null>(null);
  return (
    <Section title={TEXTS.title} says={TEXTS.says}>
      <div class="stack">
        <p>
          {webhook.secretRotatedAt ? TEXTS.rotated : TEXTS.neverRotated}{' '}
          {webhook.secretRotatedAt && <Ago at={webhook.secretRotatedAt} />}
        </p>
        {webhook.previousSecretExpiresAt && (
          <p>
            {TEXTS.overlapping} <At at={webhook.previousSecretExpiresAt} />
          </p>
        )}
        <p class="actions">
          <button type="button" class="button" disabled={!may('webhooks:write')} onClick={() => setIsOpen(true)}>
            {TEXTS.rotate}
          </button>
          {!may('webhooks:write') && <span class="muted small">{TEXT.lacks('webhooks:write')}</span>}
        </p>
      </div>
      {isOpen && !rotated && <RotateDialog webhook={webhook} onClose={() => setIsOpen(false)} onRotated={setRotated} />}
      {rotated && (
        <SecretDialog
          title={TEXTS.created}
          {...rotated}
          onDone={() => {
            setRotated(null);
            setIsOpen(false);
          }}
        >
          <Overlap until={rotated.previousSecretExpiresAt} />
        </SecretDialog>
      )}
    </Section>
  );
}

function RotateDialog({
  webhook,
  onClose,
  onRotated,
}: {
  webhook: Webhook;
  onClose: () => void;
  onRotated: (next: RotatedSecret) => void;
}) {
  const [hours, setHours] = useState('24');
  const [secret, setSecret] = useState('');
  const now = useNow();
  const body = {
    overlapSeconds: secondsOf(hours),
    ...(secret && { secret }),
    // The dialog says that the older secret stops at once.
    ...(webhook.previousSecretExpiresAt && { force: true }),
  };
  const rotate = useRotate(webhook, onRotated);
  useLeaveWarning(rotate.isPending);
  const until = Number.isNaN(body.overlapSeconds) ? null : now + body.overlapSeconds * 1000;
  const isInBounds = until !== null && Math.abs(until) <= 8.64e15 && body.overlapSeconds >= 0;
  return (
    <Dialog title={TEXTS.rotateThis} onClose={onClose}>
      <Form
        error={rotate.error}
        fields={['overlapSeconds', 'secret']}
        onSubmit={() => rotate.mutate(body)}
        actions={
          <div class="actions">
            <button type="button" class="button" onClick={onClose}>
              {TEXT.cancel}
            </button>
            <button class="button main" disabled={rotate.isPending}>
              {TEXTS.rotate}
            </button>
          </div>
        }
      >
        <TextField
          label={TEXTS.hours}
          hint={TEXTS.hoursHint}
          error={faultAt(rotate.error, 'overlapSeconds')}
          inputmode="decimal"
          value={hours}
          onValue={setHours}
        />
        {isInBounds && <Overlap until={body.overlapSeconds === 0 ? null : new Date(until).toISOString()} />}
        {webhook.previousSecretExpiresAt && <p>{TEXTS.drops}</p>}
        <TextField
          label={TEXTS.own}
          hint={TEXTS.ownHint}
          error={faultAt(rotate.error, 'secret')}
          autocomplete="off"
          spellcheck={false}
          value={secret}
          onValue={setSecret}
        />
      </Form>
      <ApiCall
        method="POST"
        path={encoded`webhooks/${webhook.id}/rotate-secret`}
        body={{ ...body, ...(secret && { secret: '…' }) }}
      />
    </Dialog>
  );
}

function useRotate(webhook: Webhook, onRotated: (next: RotatedSecret) => void) {
  const { api } = useSigned();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (body: { overlapSeconds: number; secret?: string }) => {
      if (Number.isNaN(body.overlapSeconds)) throw invalid('overlapSeconds', TEXTS.notHours);
      return api.send<RotatedSecret>('POST', encoded`webhooks/${webhook.id}/rotate-secret`, body);
    },
    onSuccess: (next) => {
      if (webhook.url !== null) secretsOfReceivers.set(webhook.url, next.secret);
      onRotated(next);
      void queries.invalidateQueries();
    },
  });
}

/** @param until when the old secret stops signing; null or past: at once */
const Overlap = ({ until }: { until: string | null }) => (
  <p>
    {until && Date.parse(until) > Date.now() ? (
      <>
        {TEXTS.both} <At at={until} />.
      </>
    ) : (
      TEXTS.onlyNew
    )}
  </p>
);

/** NaN for a text that is no number. */
const secondsOf = (hours: string): number => (hours.trim() === '' ? NaN : Math.round((Number(hours) * HOUR_MS) / 1000));
