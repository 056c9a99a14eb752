import type { Webhook, WebhookStats } from '../api/types';

export type Health = WebhookStats['health'];

/** The worst first. */
export const HEALTHS: readonly Health[] = ['failing', 'disabled', 'degraded', 'healthy', 'no_traffic'];

/** The place of a webhook in a list that begins with the worst. */
export const rankOf = ({ stats }: Pick<Webhook, 'stats'>): number =>
  stats ? HEALTHS.indexOf(stats.health) : HEALTHS.length;
