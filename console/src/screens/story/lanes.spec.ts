import type { Delivery } from '../../api/types';
import { absenceOf, lanesOf } from './lanes';

const row = (id: string, webhookId: string, status: Delivery['status'], nextAttemptAt: string | null = null) =>
  ({ id, webhookId, status, attempt: 1, nextAttemptAt }) as Delivery;

describe('lanesOf', () => {
  it('has failing webhooks first, and attempts in the order of time', () => {
    const lanes = lanesOf([
      row('4', 'good', 'succeeded'),
      row('3', 'bad', 'failed'),
      row('1', 'bad', 'failed', '2026-01-01'),
      row('2', 'waits', 'pending'),
    ]);
    expect(lanes.map((lane) => lane.map(({ id }) => id))).toEqual([['1', '3'], ['2'], ['4']]);
  });
});

describe('absenceOf', () => {
  const webhook = { id: 'w1', events: ['*'], createdAt: '2026-01-01', active: true, filter: null };
  const event = { event: 'job.started', createdAt: '2026-01-02', data: {} };
  it.each([
    ['created_later', { createdAt: '2026-01-03' }],
    ['not_subscribed', { events: ['follower.*', 'job.completed'] }],
    ['disabled', { events: ['job.*'], active: false }],
    ['filtered', { filter: { 'data.a': [1] } }],
    ['changed', {}],
  ])('is %s', (expected, changes) => {
    expect(absenceOf({ ...webhook, ...changes }, event)).toBe(expected);
  });

  it('knows that * does not cover notices, and that a webhook gets none about itself', () => {
    const notice = { ...event, event: 'webhook.failing', data: { webhookId: 'w1' } };
    expect(absenceOf(webhook, notice)).toBe('not_subscribed');
    expect(absenceOf({ ...webhook, events: ['webhook.*'] }, notice)).toBe('about_itself');
  });
});
