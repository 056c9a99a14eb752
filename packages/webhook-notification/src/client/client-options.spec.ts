import { type ClientOptions, settingsOf } from './client-options';

const GIVEN = { url: 'http://localhost:3000', token: 'wns_secret' };

describe('settingsOf', () => {
  it('waits 30 seconds for a response and retries three times by default', () => {
    expect(settingsOf(GIVEN)).toMatchObject({ url: GIVEN.url, timeoutMs: 30_000, maxRetries: 3 });
    expect(settingsOf({ ...GIVEN, timeoutMs: 5, maxRetries: 0 })).toMatchObject({ timeoutMs: 5, maxRetries: 0 });
  });

  it.each<[Partial<Record<keyof ClientOptions, unknown>>, RegExp]>([
    [{ url: undefined }, /needs the url/],
    [{ token: undefined }, /needs a token/],
    [{ token: '' }, /needs a token/],
    [{ token: 'wns_secret\n' }, /needs a token/],
    [{ token: 'Bearer wns_secret' }, /needs a token/],
    [{ timeoutMs: 0 }, /timeoutMs/],
    [{ timeoutMs: NaN }, /timeoutMs/],
    [{ timeoutMs: 2 ** 31 }, /timeoutMs/],
    [{ timeoutMs: '5' }, /timeoutMs/],
    [{ maxRetries: -1 }, /maxRetries/],
    [{ maxRetries: 1.5 }, /maxRetries/],
    [{ maxRetries: Infinity }, /maxRetries/],
    [{ fetch: 'fetch' }, /fetch/],
  ])('rejects %j without showing the token', (wrong, message) => {
    const options = { ...GIVEN, ...wrong } as ClientOptions;
    expect(() => settingsOf(options)).toThrow(TypeError);
    expect(() => settingsOf(options)).toThrow(message);
    expect(() => settingsOf(options)).toThrow(/^(?!.*secret)/);
  });

  it('rejects missing options', () => {
    expect(() => settingsOf(undefined as unknown as ClientOptions)).toThrow(/needs the url/);
  });
});
