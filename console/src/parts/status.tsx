import { Ban, Check, CirclePause, Clock, type LucideIcon, X } from 'lucide-preact';
import type { Status, Webhook } from '../api/types';
import { TEXT } from '../text/en';
import { Pill, type Tone } from './pill';

const OF_STATUS: Record<Status, [Tone, LucideIcon]> = {
  pending: ['wait', Clock],
  succeeded: ['good', Check],
  failed: ['bad', X],
  canceled: ['calm', Ban],
};

/** A word and a picture, never a colour alone. */
export function DeliveryStatus({ status }: { status: Status }) {
  const [tone, icon] = OF_STATUS[status];
  return (
    <Pill tone={tone} icon={icon}>
      {TEXT.status[status]}
    </Pill>
  );
}

export function WebhookState({ webhook }: { webhook: Pick<Webhook, 'active' | 'disabledReason'> }) {
  if (webhook.active)
    return (
      <Pill tone="good" icon={Check}>
        {TEXT.status.active}
      </Pill>
    );
  return webhook.disabledReason ? (
    <Pill tone="bad" icon={X}>
      {TEXT.status.disabled}
    </Pill>
  ) : (
    <Pill tone="calm" icon={CirclePause}>
      {TEXT.status.off}
    </Pill>
  );
}
