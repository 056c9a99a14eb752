import { randomBytes } from 'node:crypto';
import { allPagesOf } from '../../support/api';
import { useService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { startCommand } from '../stage/library-command';
import { SVIX_TOKEN, useSvixServer } from '../stage/svix-server';

const COUNT = 10_000;

describe(`An import of ${COUNT} endpoints`, () => {
  const service = useService({ MAX_WEBHOOKS_PER_USER: String(COUNT), LOG_LEVEL: 'error' });
  const svix = useSvixServer();

  it('is continued after each kill -9 until all are imported, and then changes nothing', async () => {
    const token = await service.createToken('shop', ['webhooks:read', 'webhooks:write']);
    const api = service.api.withToken(token);
    for (let i = 0; i < COUNT; i += 1) {
      const secret = `whsec_${randomBytes(24).toString('base64')}`;
      svix.endpoints.set(`ep_${i}`, { id: `ep_${i}`, url: `https://receiver-${i}.example/hooks`, secret });
    }
    const start = () =>
      startCommand(['import', 'svix', '--app', 'shop', '--svix', svix.url, '--service', service.url, '--yes'], {
        SVIX_TOKEN,
        WEBHOOKS_TOKEN: token,
      });
    const webhooks = async () => (await allPagesOf(api.listWebhooks, { limit: 250 })).flat();

    for (const created of [1000, 2500]) {
      const running = start();
      const count = () => running.stdout().match(/^created {2}/gm)?.length ?? 0;
      await waitFor(() => count() >= created, {
        what: `${created} created webhooks`,
        everyMs: 100,
        timeoutMs: 600_000,
      });
      expect(await running.kill()).toBe(true);
    }
    const before = await webhooks();
    expect(before.length).toBeGreaterThanOrEqual(3500);
    expect(before.length).toBeLessThan(COUNT);

    expect(await start().ended()).toMatchObject({ code: 0, stderr: '' });
    const after = await webhooks();
    expect(new Set(after.map(({ externalId }) => externalId)).size).toBe(COUNT);
    expect(after.slice(-before.length)).toEqual(before);

    expect(await start().ended()).toMatchObject({ code: 0, stdout: `unchanged ${COUNT}.\n`, stderr: '' });
    expect(await webhooks()).toEqual(after);
  }, 1_800_000);
});
