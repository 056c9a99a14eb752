import { Ban, Check, CirclePause, Clock, type LucideIcon, RotateCw, X } from 'lucide-preact';
import type { Delivery, Webhook } from '../api/types';
import { TEXT } from '../text/en';
import { type Outcome, outcomeOf } from './outcome';
import { Pill, type Tone } from './pill';

const OF_OUTCOME: Record<Outcome, [Tone, LucideIcon]> = {
  delivered: ['good', Check],
  waiting: ['calm', Clock],
  retrying: ['wait', RotateCw],
  failed: ['wait', X],
  gave_up: ['bad', X],
  canceled: ['calm', Ban],
};

/** A word and a picture, never a colour alone. */
export function DeliveryStatus({ of }: { of: Pick<Delivery, 'status' | 'attempt' | 'nextAttemptAt'> }) {
  const outcome = outcomeOf(of);
  const [tone, icon] = OF_OUTCOME[outcome];
  return (
    <Pill tone={tone} icon={icon}>
      {TEXT.outcomes[outcome]}
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
