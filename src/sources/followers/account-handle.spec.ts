import { validateHandle, partsOfMastodonHandle } from './account-handle';

describe('validateHandle', () => {
  it.each([
    ['ada@mastodon.social', 'ada@mastodon.social'],
    ['@ada@mastodon.social', 'ada@mastodon.social'],
    ['Ada_1.b@MASTODON.Social', 'Ada_1.b@mastodon.social'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['ada@social.example:8443', 'ada@social.example:8443'],
    ['ada@social.example:443', 'ada@social.example'],
    ['ada@[::1]:8443', 'ada@[::1]:8443'],
    ['ada@0x7f.1', 'ada@127.0.0.1'],
  ])('accepts %s for mastodon as %s', (text, handle) => {
    expect(validateHandle('mastodon', text)).toMatchObject({
      ok: true,
      handle,
      url: `https://${handle.split('@')[1]}/`,
    });
  });

  it.each([
    'ada',
    'ada@',
    '@mastodon.social',
    'ada@intranet',
    'ada@a b.example',
    'ada@evil.example/path',
    'ada@evil.example?x=1',
    'ada@evil.example#x',
    'ada@user@evil.example',
    'ada@evil.example\\@good.example',
    'ada@social.example:0',
    'ada@social.example:99999',
    'a/../b@social.example',
    '.ada@social.example',
    'ada@social.example\n',
    `${'a'.repeat(65)}@social.example`,
  ])('rejects %j for mastodon', (text) => {
    expect(validateHandle('mastodon', text)).toMatchObject({ ok: false, reason: expect.stringContaining('Mastodon') });
  });

  it.each([
    ['ada.bsky.social', 'ada.bsky.social'],
    ['@Ada.Example.ORG', 'ada.example.org'],
  ])('accepts %s for bluesky as %s', (text, handle) => {
    expect(validateHandle('bluesky', text)).toEqual({ ok: true, handle });
  });

  it.each(['ada', 'ada.123', '-ada.example', 'ada.example/', 'ada..example', `${'a.'.repeat(127)}example`, ''])(
    'rejects %j for bluesky',
    (text) => {
      expect(validateHandle('bluesky', text)).toMatchObject({ ok: false });
    },
  );

  it.each([' shop', 'shop ', '', 'a\nb', '\ud800', 'x'.repeat(257)])('rejects %j for push', (text) => {
    expect(validateHandle('push', text)).toMatchObject({ ok: false });
  });
});

it('partsOfMastodonHandle returns user and server', () => {
  expect(partsOfMastodonHandle('ada@[::1]:8443')).toEqual({ user: 'ada', origin: 'https://[::1]:8443' });
});
