import { Check, CirclePause, Minus, TriangleAlert, type LucideIcon, X } from 'lucide-preact';
import type { Webhook } from '../api/types';
import { TEXT } from '../text/en';
import type { Health } from './health-rank';
import { Pill, type Tone } from './pill';
import { clockOf, useUtc } from './time';

const LOOKS: Record<Health, [Tone, LucideIcon]> = {
  failing: ['bad', X],
  disabled: ['calm', CirclePause],
  degraded: ['wait', TriangleAlert],
  healthy: ['good', Check],
  no_traffic: ['calm', Minus],
};

/** Whether it arrives. That is not the switch: an active webhook may be failing. */
export function HealthPill({ webhook }: { webhook: Webhook }) {
  const [isUtc] = useUtc();
  const health = webhook.stats?.health ?? (webhook.active ? undefined : 'disabled');
  if (!health) return null;
  const [tone, icon] = LOOKS[health];
  const since = health === 'failing' ? webhook.stats?.failingSince : health === 'disabled' ? webhook.disabledAt : null;
  return (
    <Pill tone={tone} icon={icon}>
      {since ? TEXT.health.since(health, clockOf(since, isUtc)) : TEXT.health[health]}
    </Pill>
  );
}
