import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { dataOf } from '../support/api';
import { useService } from '../support/service';
import { describeInBrowser, says } from './stage/browser';
import { dialog, enter, openDialog, operation } from './stage/swagger';

const SCREENSHOTS = join(__dirname, '..', '..', '.screenshots');
const CHANGED = {
  description: 'Tariffs of Initech changed.',
  schema: {
    type: 'object',
    properties: { tariff: { $ref: '#/$defs/tariff' } },
    $defs: { tariff: { enum: ['gold for Hooli'] } },
  },
};

describeInBrowser('Swagger UI', (browser) => {
  const service = useService();
  beforeAll(async () => {
    const api = await service.apiFor('operator', ['event-types:manage']);
    await dataOf(api.createEventType({ name: 'tariff.changed', ...CHANGED }), 201);
  });

  it.each(['/docs', '/docs/'])(
    'at %s shows declared event types after Authorize, and hides them after Logout',
    async (path) => {
      const { page } = await browser.open(`${service.url}${path}`);
      await operation(page, 'follower.gained').waitFor();
      expect(await operation(page, 'tariff.changed').count()).toBe(0);
      await openDialog(page);
      await enter(page, service.token);
      await operation(page, 'tariff.changed').waitFor();
      await dialog(page).locator('.btn-done').click();
      await operation(page, 'tariff.changed').click();
      await says(page, 'gold for Hooli');
      await page.screenshot({ path: join(SCREENSHOTS, 'docs-authorized.png') });

      await operation(page, '/api/me').click();
      await page.getByRole('button', { name: 'Execute' }).click();
      await says(page, '"admin"');

      await openDialog(page);
      await dialog(page).getByRole('button', { name: 'Remove authorization' }).click();
      await operation(page, 'tariff.changed').waitFor({ state: 'detached' });
      await operation(page, 'follower.gained').waitFor();
    },
  );

  it('shows the error of an invalid token, and keeps the public document', async () => {
    const { page } = await browser.open(`${service.url}/docs`);
    await operation(page, 'follower.gained').waitFor();
    await openDialog(page);
    await enter(page, `wns_${randomBytes(32).toString('base64url')}`);
    await says(page, /Authentication required/);
    await page.screenshot({ path: join(SCREENSHOTS, 'docs-refused.png') });
    await operation(page, 'follower.gained').waitFor();
    await dialog(page).getByRole('button', { name: 'Remove authorization' }).click();
    await enter(page, service.token);
    await operation(page, 'tariff.changed').waitFor();
    expect(await page.getByText(/Authentication required/).count()).toBe(0);
  });
});
