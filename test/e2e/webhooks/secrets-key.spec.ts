import { randomBytes } from 'node:crypto';
import { dataOf } from '../../support/api';
import { cloneDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { defaultSettings, runCommand, type Settings, startService, useService } from '../../support/service';
import { cryptoSignature } from '../../support/signatures';
import { describeOnStores } from '../../support/stores';
import { deleteWebhooks, publish, settledDeliveries, subscribe } from '../stage/steps';

describeOnStores('A stored secret', (store) => {
  const service = useService(() => store.settings());
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  it('that was copied into another webhook signs nothing there, and nothing is sent unsigned', async () => {
    const [ownHook, otherHook] = [receiver.hook(), receiver.hook()];
    const own = await subscribe(service.api, ownHook, ['job.started'], { secret: 'the secret of one' });
    const other = await subscribe(service.api, otherHook, ['job.started'], { secret: 'of the other one' });
    await service.database.query(
      `update webhook_service.webhooks set secret = (select secret from webhook_service.webhooks where id = $1)
       where id = $2`,
      [own.id, other.id],
    );
    const event = await publish(service.api, 'job.started');
    expect(await settledDeliveries(service.api, own, event)).toMatchObject([{ status: 'succeeded' }]);
    const internal = { status: 'failed', error: { code: 'internal', message: expect.stringContaining('secret') } };
    expect(await settledDeliveries(service.api, other, event)).toMatchObject([
      { ...internal, attempt: 1, nextAttemptAt: null, attemptedAt: null, responseStatus: null },
    ]);
    const tested = await dataOf(service.api.testWebhook(other.id));
    expect(tested).toMatchObject({ ...internal, trigger: 'test', request: null, response: null });
    expect(otherHook.calls).toEqual([]);
    await dataOf(service.api.updateWebhook(other.id, { secret: 'a secret again' }));
    expect(await dataOf(service.api.testWebhook(other.id))).toMatchObject({ status: 'succeeded' });
  });
});

describe('SECRETS_KEY', () => {
  const receiver = useReceiver();

  it('is changed in the documented order, and every delivery stays signed', async () => {
    const [oldKey, newKey] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
    const database = await cloneDatabase();
    const hook = receiver.hook();
    let sent = 0;
    const runWith = async (
      SECRETS_KEY: string,
      work: (settings: Settings) => Promise<void> = async () => undefined,
    ) => {
      const service = await startService({ SECRETS_KEY }, database);
      try {
        if (sent === 0) await subscribe(service.api, hook, ['job.started'], { secret: 'a secret of mine' });
        await work({ ...defaultSettings(database.url, service.token), SECRETS_KEY });
        await publish(service.api, 'job.started');
        const call = (await hook.received((sent += 1))).at(-1)!;
        expect(call.headers['x-service-signature']).toBe(cryptoSignature(call.body, 'a secret of mine'));
      } finally {
        expect(await service.stop()).toBe(0);
      }
    };
    try {
      await runWith(oldKey);
      await runWith(`${newKey},${oldKey}`, async (settings) => {
        const rotated = await runCommand(['rekey'], settings);
        expect(rotated).toEqual({
          exitCode: 0,
          stdout: 'Re-encrypted: 1. Already under the first key: 0.\n',
          stderr: '',
        });
      });
      await runWith(newKey);
    } finally {
      await database.drop();
    }
    // Three services one after the other, and a command.
  });
});
