import { ALL_SCOPES, isScope } from './scope';

describe('The scopes', () => {
  it('are these eight', () => {
    expect([...ALL_SCOPES].sort()).toEqual([
      'accounts:manage',
      'deliveries:read',
      'events:broadcast',
      'events:publish',
      'tokens:manage',
      'users:manage',
      'webhooks:read',
      'webhooks:write',
    ]);
    expect(ALL_SCOPES.every(isScope)).toBe(true);
  });

  it.each(['', 'webhooks', 'webhooks:*', '*', 'WEBHOOKS:READ', ' webhooks:read', 'constructor', '__proto__'])(
    'do not include %p',
    (text) => {
      expect(isScope(text)).toBe(false);
    },
  );
});
