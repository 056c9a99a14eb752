import { DAY_MS } from '../../infrastructure/config/durations';

export const HEALTHS = ['disabled', 'failing', 'degraded', 'no_traffic', 'healthy'] as const;

export type Health = (typeof HEALTHS)[number];

/** What decides the health of a webhook. Tests do not count. */
export interface HealthSigns {
  active: boolean;
  /** Above 0 if the last event that ended ran out of retries. */
  consecutiveFailures: number;
  /** Null if none is on record. */
  lastDeliveryAt: Date | null;
  succeededLastHour: number;
  failedLastHour: number;
}

/** Returns the health of a webhook: the first that applies, in the order of `HEALTHS`. */
export function healthOf(signs: HealthSigns, now: Date): Health {
  const { active, consecutiveFailures, lastDeliveryAt, succeededLastHour, failedLastHour } = signs;
  const attempts = succeededLastHour + failedLastHour;
  if (!active) return 'disabled';
  if (consecutiveFailures > 0 || (attempts >= 5 && succeededLastHour === 0)) return 'failing';
  if (attempts >= 10 && succeededLastHour * 100 < attempts * 99) return 'degraded';
  if (!lastDeliveryAt || now.getTime() - lastDeliveryAt.getTime() >= DAY_MS) return 'no_traffic';
  return 'healthy';
}
