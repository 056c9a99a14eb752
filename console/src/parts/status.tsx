import type { Status, Webhook } from '../api/types';
import { TEXT } from '../text/en';
import { Icon, type IconName } from './icons';

type Tone = 'good' | 'bad' | 'calm' | 'wait';

const Badge = ({ tone, icon, children }: { tone: Tone; icon: IconName; children: string }) => (
  <span class={`badge ${tone}`}>
    <Icon name={icon} />
    {children}
  </span>
);

const OF_STATUS: Record<Status, [Tone, IconName]> = {
  pending: ['wait', 'clock'],
  succeeded: ['good', 'check'],
  failed: ['bad', 'cross'],
  canceled: ['calm', 'stop'],
};

/** A word and a picture, never a colour alone. */
export function DeliveryStatus({ status }: { status: Status }) {
  const [tone, icon] = OF_STATUS[status];
  return (
    <Badge tone={tone} icon={icon}>
      {TEXT.status[status]}
    </Badge>
  );
}

export function WebhookState({ webhook }: { webhook: Pick<Webhook, 'active' | 'disabledReason'> }) {
  if (webhook.active)
    return (
      <Badge tone="good" icon="check">
        {TEXT.status.active}
      </Badge>
    );
  return webhook.disabledReason ? (
    <Badge tone="bad" icon="cross">
      {TEXT.status.disabled}
    </Badge>
  ) : (
    <Badge tone="calm" icon="stop">
      {TEXT.status.off}
    </Badge>
  );
}
