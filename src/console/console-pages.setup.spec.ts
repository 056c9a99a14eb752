import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { serveConsole } from './console-pages.setup';

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
  serveConsole(server, join(folder, 'none'));
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
  serveConsole(server, folder);
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
  serveConsole(server, folder);
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
