import type { Webhook } from './webhook.entity';
import { etagOf } from './webhook-version';

const PUSH = {
  id: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90',
  kind: 'push',
  url: 'https://example.com/hooks',
  events: ['operation.complete', 'follower.*'],
  description: 'Staging',
  metadata: { team: 'billing', 'cost.center': 'é😀' },
  externalId: 'billing:invoices',
  filter: { 'data.amountCents': { gte: 1000 }, 'data.status': ['paid', 'refunded'] },
  format: 'slack',
  headers: { 'x-api-key': 'c2VhbGVk', 'x-team': 'b3RoZXI=' },
  timeoutMs: 5000,
  retryDelaysMs: [60_000, 3_600_000],
  maxPerSecond: 0.5,
  idleSeconds: null,
  secret: Buffer.from('sealed'),
  active: true,
  consecutiveFailures: 3,
  updatedAt: new Date('2026-11-24T09:30:00.123Z'),
} as unknown as Webhook;

const PULL = {
  ...PUSH,
  ...{ kind: 'pull', url: null, events: ['*'], description: null, metadata: {}, externalId: null, filter: null },
  ...{ format: 'native', headers: {}, timeoutMs: null, retryDelaysMs: [], maxPerSecond: null, idleSeconds: 3600 },
  active: false,
} as Webhook;

describe('The etag of a webhook', () => {
  it.each([
    ['with every setting of a push webhook', PUSH, '"9Q8cb-rmzk_g4f9mMrJXtD"'],
    ['of a pull webhook', PULL, '"91SxVcC4oL1MoSJ4zM5n07"'],
    [
      'with the defaults',
      { ...PULL, ...{ url: PUSH.url, active: true, retryDelaysMs: null, idleSeconds: null } },
      '"SIaL2KHlCduYP-KzN9g39_"',
    ],
  ])('is that of version 0.3: %s', (_, webhook, etag) => {
    expect(etagOf(webhook as Webhook)).toBe(etag);
  });

  it.each([
    ...[{ url: null }, { events: [] }, { description: '' }, { metadata: { a: 'b' } }, { externalId: 'a' }],
    ...[{ filter: null }, { format: 'native' }, { headers: { 'x-api-key': 'c2VhbGVk' } }, { timeoutMs: null }],
    ...[
      { retryDelaysMs: [] },
      { maxPerSecond: 1 },
      { idleSeconds: 60 },
      { fields: [] },
      { active: false },
      { updatedAt: new Date(0) },
    ],
  ])('is another one after a change to %j', (changes) => {
    expect(etagOf({ ...PUSH, ...changes } as Webhook)).not.toBe(etagOf(PUSH));
  });

  it('stays the same when figures change, and new sealings of the same headers', () => {
    const changes = { consecutiveFailures: 4, headers: { 'x-api-key': 'bmV3', 'x-team': 'bmV3' } };
    expect(etagOf({ ...PUSH, ...changes })).toBe(etagOf(PUSH));
  });
});
