import { createHmac, randomBytes } from 'node:crypto';
import { dataOf, errorOf } from '../../support/api';
import { type ReceivedCall, useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { cryptoSignature } from '../../support/signatures';
import { verifySignature } from 'webhook-notification';
import { seal } from '../../../src/webhooks/secrets/secret-box';
import { publish, subscribe } from '../stage/steps';

const KEY = Buffer.alloc(32, 0xfb);
const CANONICAL = `whsec_${KEY.toString('base64')}`;
const LOOSE = {
  'without padding': CANONICAL.replace('=', ''),
  'in base64url': `whsec_${KEY.toString('base64url')}`,
  'in base64url with padding': `whsec_${KEY.toString('base64url')}=`,
};
const SECRETS_KEY = randomBytes(32);

const signatureBy = (key: Buffer, { headers, body }: ReceivedCall) =>
  `v1,${createHmac('sha256', key)
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`)
    .update(body)
    .digest('base64')}`;

describe('A secret of Standard Webhooks', () => {
  const service = useService(() => ({ SECRETS_KEY: SECRETS_KEY.toString('base64') }));
  const receiver = useReceiver();

  it.each(Object.entries(LOOSE))(
    '%s signs with the decoded key, and as text where its text is the key',
    async (_, secret) => {
      const hook = receiver.hook();
      const webhook = await subscribe(service.api, hook, ['job.started'], { secret });
      expect([webhook.secret, webhook.standardSecret]).toEqual([secret, CANONICAL]);
      await publish(service.api, 'job.started');
      const [call] = await hook.received(1);
      expect(call!.headers['webhook-signature']).toBe(signatureBy(KEY, call!));
      expect(call!.headers['x-service-signature']).toBe(cryptoSignature(call!.body, secret));
      for (const held of [secret, CANONICAL])
        expect(verifySignature(call!.body, call!.headers, held).event).toBe('job.started');
      expect(await dataOf(service.api.rotateSecret(webhook.id, { secret }))).toMatchObject({
        previousSecretExpiresAt: null,
      });
      await dataOf(service.api.deleteWebhook(webhook.id));
    },
  );

  it('that an older version stored as text stays text, also in a rotation', async () => {
    const hook = receiver.hook();
    const secret = LOOSE['without padding'];
    const { id } = await subscribe(service.api, hook, ['job.started']);
    const sealed = seal(secret, id, SECRETS_KEY, randomBytes(12));
    await service.database.query('update webhook_service.webhooks set secret = $2 where id = $1', [id, sealed]);
    await publish(service.api, 'job.started');
    const [before] = await hook.received(1);
    expect(before!.headers['webhook-signature']).toBe(signatureBy(Buffer.from(secret), before!));
    expect(verifySignature(before!.body, before!.headers, secret).event).toBe('job.started');
    await dataOf(service.api.rotateSecret(id, { secret: LOOSE['in base64url'] }));
    await publish(service.api, 'job.started');
    const call = (await hook.received(2)).at(-1)!;
    expect(call.headers['webhook-signature']).toBe(
      `${signatureBy(KEY, call)} ${signatureBy(Buffer.from(secret), call)}`,
    );
    await dataOf(service.api.deleteWebhook(id));
  });

  it.each([`${CANONICAL} `, `v1,${CANONICAL}`, `whsec_${Buffer.alloc(20).toString('base64')}`, 'whsec_my passphrase'])(
    'that no library would decode is refused wherever it is set: %j',
    async (secret) => {
      const wanted = { url: 'https://example.com/', events: ['job.started'] };
      const { id } = await dataOf(service.api.createWebhook(wanted), 201);
      for (const reply of [
        service.api.createWebhook({ ...wanted, secret }),
        service.api.updateWebhook(id, { secret }),
        service.api.saveWebhook('mine', { ...wanted, secret }),
        service.api.rotateSecret(id, { secret }),
      ])
        expect(await errorOf(reply, 400)).toMatch(/^secret must (have|begin)/);
    },
  );
});
