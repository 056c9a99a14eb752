import { presetOf, presetsFor } from './presets';

describe('presetsFor', () => {
  it('offers scopes that are held, and no empty choice', () => {
    expect(presetsFor(['webhooks:read', 'tokens:manage'])).toEqual([
      ['read', ['webhooks:read']],
      ['all', ['webhooks:read', 'tokens:manage']],
    ]);
    expect(presetsFor(['deliveries:read', 'webhooks:read', 'events:publish']).map(([preset]) => preset)).toEqual([
      'read',
      'publish',
      'all',
    ]);
  });
});

describe('presetOf', () => {
  const held = ['webhooks:read', 'webhooks:write', 'deliveries:read'] as const;

  it('recognizes a choice by its scopes, in any order', () => {
    expect(presetOf(['deliveries:read', 'webhooks:read'], held)).toBe('read');
    expect(presetOf([...held], held)).toBe('all');
    expect(presetOf(['webhooks:write'], held)).toBeUndefined();
  });
});
