import { kindErrors } from './webhook-kind';

const PUSH = { url: 'https://example.com', headers: { a: 'b' }, format: 'native', timeoutMs: 500, maxPerSecond: 1 };
const fieldsOf = (errors: readonly { field: string }[]) => errors.map(({ field }) => field);

describe('A kind of webhooks', () => {
  it('has fields of its own', () => {
    expect(fieldsOf(kindErrors('pull', PUSH))).toEqual(Object.keys(PUSH));
    expect(kindErrors('push', PUSH)).toEqual([]);
    expect(kindErrors('pull', { idleSeconds: 60 })).toEqual([]);
    expect(kindErrors('push', { idleSeconds: 60 })).toEqual([
      { field: 'idleSeconds', code: 'invalid', message: 'idleSeconds is only for webhooks of kind pull' },
    ]);
  });

  it('accepts null for a field of the other kind', () => {
    expect(kindErrors('pull', { headers: null, timeoutMs: null, maxPerSecond: undefined })).toEqual([]);
    expect(kindErrors('push', { idleSeconds: null })).toEqual([]);
  });
});
