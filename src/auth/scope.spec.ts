import { ALL_SCOPES, isScope, missingScope } from './access-token';

describe('The scopes', () => {
  it('are these eleven', () => {
    expect([...ALL_SCOPES].sort()).toEqual([
      'accounts:manage',
      'deliveries:read',
      'event-types:manage',
      'events:broadcast',
      'events:publish',
      'messages:pull',
      'tokens:manage',
      'users:erase',
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

describe('missingScope', () => {
  it('returns the first required scope that is not held', () => {
    expect(missingScope(['webhooks:read', 'webhooks:write'], ['webhooks:read'])).toBe('webhooks:write');
    expect(missingScope(['webhooks:read'], ['webhooks:read'])).toBeUndefined();
    expect(missingScope([], [])).toBeUndefined();
  });

  it('returns all alternatives when none of them is held', () => {
    const either = [['tokens:manage', 'users:manage']] as const;
    expect(missingScope(either, ['webhooks:read'])).toBe('tokens:manage or users:manage');
    expect(missingScope(either, ['users:manage'])).toBeUndefined();
  });
});
