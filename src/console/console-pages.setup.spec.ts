import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { accentStyles } from './accent';
import { type ConsoleOptions, serveConsole } from './console-pages.setup';

const DEFAULTS = { consoleFrameAncestors: [], consoleName: 'Webhooks', consoleAccent: null };

let folder: string;
let server: FastifyInstance;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'console-'));
  server = fastify();
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

it('a build without the console returns 503 at every path of the console', async () => {
  serveConsole(server, DEFAULTS, join(folder, 'none'));
  for (const url of ['/console/', '/console/webhooks/x', '/console/assets/app.js']) {
    const answer = await server.inject({ url });
    expect([answer.statusCode, answer.json()]).toEqual([
      503,
      expect.objectContaining({ success: false, code: 'console_not_built', requestId: expect.any(String) }),
    ]);
  }
  expect((await server.inject({ url: '/' })).headers.location).toBe('console/');
});

it('the page finds its files from every path, behind any prefix', async () => {
  writeFileSync(
    join(folder, 'index.html'),
    '<script src="%BASE%assets/a.js"></script><link href="%BASE%assets/a.css">',
  );
  mkdirSync(join(folder, 'assets'));
  serveConsole(server, DEFAULTS, folder);
  for (const [url, base] of [
    ['/console/', './'],
    ['/console/deliveries', './'],
    ['/console/deliveries?status=failed&event=a/b', './'],
    ['/console/webhooks/x', '../'],
    ['/console/webhooks/x/health', '../../'],
    ['/console/event-types/job.started', '../'],
  ] as const) {
    const expected = `<script src="${base}assets/a.js"></script><link href="${base}assets/a.css">`;
    expect([url, (await server.inject({ url })).body]).toEqual([url, expected]);
  }
});

it('a path of more than ten parts returns 404', async () => {
  writeFileSync(join(folder, 'index.html'), '<script src="%BASE%assets/a.js"></script>');
  mkdirSync(join(folder, 'assets'));
  serveConsole(server, DEFAULTS, folder);
  const { statusCode, body } = await server.inject({ url: `/console${'/x'.repeat(10)}` });
  expect([statusCode, body]).toEqual([200, `<script src="${'../'.repeat(9)}assets/a.js"></script>`]);
  for (const url of [`/console${'/x'.repeat(11)}`, `/console/${'/'.repeat(7000)}`]) {
    const answer = await server.inject({ url });
    expect([answer.statusCode, answer.json()]).toEqual([
      404,
      expect.objectContaining({ code: 'route_not_found', error: expect.stringContaining('no route GET /console/') }),
    ]);
    expect(answer.body.length).toBeLessThan(url.length + 200);
  }
});

describe('The settings of the console', () => {
  const TEXT =
    '<title>%NAME%</title><meta name="application-name" content="%NAME%"><meta name="frame-ancestors" content="%ANCESTORS%">%ACCENT%';
  const pageOf = async (options: Partial<ConsoleOptions>, url = '/console/webhooks/x') => {
    writeFileSync(join(folder, 'index.html'), TEXT);
    mkdirSync(join(folder, 'assets'));
    serveConsole(server, { ...DEFAULTS, ...options }, folder);
    server.addHook('onRequest', async (_, reply) => void reply.header('x-frame-options', 'DENY'));
    return server.inject({ url });
  };

  it('let no page frame it by default', async () => {
    const { headers, body } = await pageOf({});
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['x-frame-options']).toBe('DENY');
    expect(body).toBe(
      '<title>Webhooks</title><meta name="application-name" content="Webhooks"><meta name="frame-ancestors" content="">',
    );
  });

  it('name the pages that may frame it', async () => {
    const { headers, body } = await pageOf({ consoleFrameAncestors: ['https://app.example', 'http://localhost:8080'] });
    expect(headers['content-security-policy']).toContain('frame-ancestors https://app.example http://localhost:8080;');
    expect(headers).not.toHaveProperty('x-frame-options');
    expect(body).toContain('<meta name="frame-ancestors" content="https://app.example http://localhost:8080">');
  });

  it('show the name as text, whatever it contains', async () => {
    const { body } = await pageOf({ consoleName: `"><script>&$&%BASE%%ANCESTORS%'` });
    const shown = "&quot;&gt;&lt;script&gt;&amp;$&amp;&#37;BASE&#37;&#37;ANCESTORS&#37;'";
    expect(body).toContain(`<title>${shown}</title><meta name="application-name" content="${shown}">`);
  });

  it('link the accent as a style sheet of the console', async () => {
    const { body } = await pageOf({ consoleAccent: '#ffff00' });
    expect(body).toContain('<link rel="stylesheet" href="../accent.css" />');
    const { headers, body: styles } = await server.inject({ url: '/console/accent.css' });
    expect(headers['content-type']).toBe('text/css; charset=utf-8');
    expect(styles).toBe(accentStyles('#ffff00'));
  });
});
