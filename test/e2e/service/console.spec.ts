import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchange } from '../../support/api';
import { serviceFile, useService } from '../../support/service';

/** Console.md 7, word by word. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; " +
  "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** A package that a script imports, or whose font a style sheet loads. */
const IMPORT = /(?:\bfrom |\burl\()'((?:@[\w-]+\/)?[a-z][\w-]*)/g;
const FONTS = ['@fontsource-variable/inter', '@fontsource-variable/jetbrains-mono'];

describe('The console', () => {
  const service = useService();
  const get = (path: string, headers = {}) => exchange(service.url, 'GET', path, { headers });

  it('is one page at every path, which cannot be framed or cached', async () => {
    for (const path of ['/console/', '/console/deliveries?status=failed', '/console/event-types/job.started']) {
      const { status, headers, text } = await get(path);
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(text).toContain('<div id="app">');
      expect(headers).toMatchObject({
        'content-security-policy': POLICY,
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
      });
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  it('is led to from the root', async () => {
    for (const path of ['/', '/console']) {
      expect(await get(path)).toMatchObject({ status: 303, headers: { location: 'console/' } });
    }
  });

  it('has files that may be kept for ever, because their names change with them', async () => {
    const names = readdirSync(join(serviceFile('console'), 'assets')).filter((name) => !name.endsWith('.br'));
    expect(names.length).toBeGreaterThanOrEqual(4);
    for (const name of names) {
      expect(name).toMatch(/-[A-Z0-9]{8}\.(js|css|woff2|txt)$/);
      const plain = await get(`/console/assets/${name}`);
      expect([plain.status, plain.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
      const { headers } = await get(`/console/assets/${name}`, { 'accept-encoding': 'br' });
      // Fonts are compressed already.
      expect(headers['content-encoding']).toBe(name.endsWith('.woff2') ? undefined : 'br');
    }
  });

  it('links the license texts of every package and font in its bundle', async () => {
    const [, name] =
      /<link rel="license" href="\.\/(assets\/licenses-\w+\.txt)"/.exec((await get('/console/')).text) ?? [];
    const { headers, text } = await get(`/console/${name}`);
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    const texts = text.split(/^-{80}$/m).map((part) => part.trim());
    const licensed = texts.map((part) => /^(\S+) \d+\.\d+\.\d+\S* \(([^)]+)\)$/m.exec(part)?.slice(1));
    const names = licensed.map((each) => each?.[0]);
    const imported = readdirSync('console/src', { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(tsx?|css)$/.test(path) && !/\.(spec|d)\.ts$/.test(path))
      .flatMap((path) =>
        [...readFileSync(join('console/src', path), 'utf8').matchAll(IMPORT)].map((match) => match[1]),
      );
    expect(imported).toEqual(expect.arrayContaining(['preact', ...FONTS]));
    expect(imported.filter((each) => !names.includes(each))).toEqual([]);
    for (const [i, part] of texts.entries()) {
      const isFont = FONTS.includes(names[i] ?? '');
      expect(licensed[i]?.[1]).toMatch(isFont ? /^OFL-1\.1$/ : /^(MIT|ISC|Unlicense)$/);
      expect(part).toMatch(
        isFont
          ? /Copyright[^]+SIL OPEN FONT LICENSE Version 1\.1/
          : /Permission (is hereby granted|to use)|\(Unlicense\)$/,
      );
    }
  });

  it('answers with the envelope what it does not have', async () => {
    for (const path of ['/console/assets/app-00000000.js', '/console/assets/../index.html', '/console/assets/']) {
      const { status, text } = await get(path);
      expect([status, JSON.parse(text)]).toEqual([404, expect.objectContaining({ code: 'route_not_found' })]);
    }
    const posted = await exchange(service.url, 'POST', '/console/deliveries', { body: {} });
    expect([posted.status, posted.headers.allow]).toEqual([405, 'GET, HEAD']);
    expect((await exchange(service.url, 'HEAD', '/console/')).status).toBe(200);
  });
});
