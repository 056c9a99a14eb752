import type { Webhook } from '../../api/types';
import { HealthPill } from '../../parts/health';
import { plainOf } from '../../parts/plain';
import { dateOf, useUtc } from '../../parts/time';
import { TEXT } from '../../text/en';

const MOST_COUNTED = 1000;

/** How the webhook is doing, since when, and what happens next. */
export function Summary({ webhook }: { webhook: Webhook }) {
  const { active, consecutiveFailures, disabledReason, disablesAt, stats, url } = webhook;
  const [isUtc] = useUtc();
  const pending = stats?.pending ?? 0;
  const sentences = [
    stateOf(webhook, isUtc),
    disabledReason && TEXT.webhook.why[disabledReason],
    consecutiveFailures > 0 && TEXT.repair.gaveUp(consecutiveFailures),
    active && pending > 0 && TEXT.repair.waiting(pending, pending >= MOST_COUNTED),
  ].filter(Boolean);
  return (
    <>
      <p class="about">
        <HealthPill webhook={webhook} /> <span class="url muted">{url === null ? TEXT.pull.kind : plainOf(url)}</span>
      </p>
      <p>{sentences.join(' ')}</p>
      {disablesAt && <p class="muted">{TEXT.repair.willBeDisabled(dateOf(disablesAt, isUtc))}</p>}
    </>
  );
}

function stateOf({ active, disabledAt, stats }: Webhook, isUtc: boolean): string {
  if (!active) return TEXT.repair.disabled(disabledAt && dateOf(disabledAt, isUtc));
  const health = stats?.health ?? 'healthy';
  if (health === 'failing') return TEXT.repair.failing(stats?.failingSince ? dateOf(stats.failingSince, isUtc) : null);
  return health === 'disabled' ? '' : TEXT.repair[health];
}
