import { type Health, healthOf, type HealthSigns } from './health';
import { DAY_MS } from '../../infrastructure/config/durations';

const now = new Date('2026-01-15T09:30:00Z');
const ago = (ms: number) => new Date(now.getTime() - ms);
const signs = (changes: Partial<HealthSigns>): HealthSigns => ({
  ...{ active: true, consecutiveFailures: 0, lastDeliveryAt: ago(1000), succeededLastHour: 0, failedLastHour: 0 },
  ...changes,
});

describe('The health of a webhook', () => {
  it.each<[Health, string, Partial<HealthSigns>]>([
    ['disabled', 'is inactive, whatever its attempts', { active: false, consecutiveFailures: 3, failedLastHour: 9 }],
    ['failing', 'gave up on the last event', { consecutiveFailures: 1, succeededLastHour: 1000 }],
    ['failing', 'had five attempts and no success', { failedLastHour: 5 }],
    ['healthy', 'had four attempts and no success', { failedLastHour: 4 }],
    ['healthy', 'had nine attempts and few successes', { succeededLastHour: 1, failedLastHour: 8 }],
    ['degraded', 'had ten attempts of which nine succeeded', { succeededLastHour: 9, failedLastHour: 1 }],
    ['degraded', 'succeeded in just under 99 %', { succeededLastHour: 989, failedLastHour: 11 }],
    ['healthy', 'succeeded in 99 %', { succeededLastHour: 99, failedLastHour: 1 }],
    ['no_traffic', 'had no attempt ever', { lastDeliveryAt: null }],
    ['no_traffic', 'had no attempt in 24 hours', { lastDeliveryAt: ago(DAY_MS) }],
    ['healthy', 'had its last attempt just under 24 hours ago', { lastDeliveryAt: ago(DAY_MS - 1) }],
    ['healthy', 'had one that succeeded', { succeededLastHour: 1 }],
  ])('is %s when it %s', (health, _, changes) => {
    expect(healthOf(signs(changes), now)).toBe(health);
  });
});
