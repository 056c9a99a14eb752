import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { RotateCw } from 'lucide-preact';
import { Link } from 'wouter-preact';
import { encoded } from '../api/address';
import { CallError } from '../api/call';
import { useSigned } from '../api/signed';
import type { Delivery } from '../api/types';
import { TEXT } from '../text/en';
import { Icon } from './icon';
import { Problem } from './problem';
import { toast } from './toasts';

type Sent = Pick<Delivery, 'id' | 'webhookId' | 'eventId' | 'status' | 'url' | 'waitsFor'>;

/** The path of the API that sends a delivery again. */
export const redeliverPath = ({ id, webhookId }: Pick<Sent, 'id' | 'webhookId'>) =>
  encoded`webhooks/${webhookId}/deliveries/${id}/redeliver`;

/** False for a delivery that a consumer can lease or has leased. */
export const canRedeliver = ({ url, status, waitsFor }: Pick<Sent, 'url' | 'status' | 'waitsFor'>): boolean =>
  url !== null || status !== 'pending' || waitsFor === 'backoff';

/** Sends a delivery again; one that waits is sent now. Absent for one that a consumer can lease or has leased. */
export function RedeliverButton({
  of,
  isMain = false,
  onSent = () => undefined,
}: {
  of: Sent;
  isMain?: boolean;
  onSent?: (next: Delivery) => void;
}) {
  const { api, may } = useSigned();
  const queries = useQueryClient();
  const {
    mutate,
    isPending: isSending,
    isError,
    error,
  } = useMutation({
    mutationFn: () => api.send<Delivery>('POST', redeliverPath(of)),
    onSuccess: (next) => {
      toast(of.url === null ? TEXT.pull.isDue : TEXT.delivery.wasQueued);
      onSent(next);
    },
    onSettled: () => queries.invalidateQueries(),
  });
  const isPull = of.url === null;
  const isPending = of.status === 'pending';
  if (!canRedeliver(of)) return null;
  const isInTheWay = error instanceof CallError && error.code === 'delivery_pending';
  return (
    <>
      <button
        type="button"
        class={`button ${isMain ? 'main' : ''}`}
        disabled={!may('webhooks:write') || isSending}
        onClick={() => mutate()}
      >
        <Icon of={RotateCw} />
        {!isPending ? TEXT.delivery.redeliver : isPull ? TEXT.pull.dueNow : TEXT.delivery.sendNow}
      </button>
      {!may('webhooks:write') && <span class="muted small">{TEXT.lacks('webhooks:write')}</span>}
      {isError && <Problem error={error} />}
      {isInTheWay && <Link href={encoded`/events/${of.eventId}`}>{TEXT.delivery.story}</Link>}
    </>
  );
}
