import { dataOf, errorOf } from '../../support/api';
import { openTransaction } from '../../support/open-transaction';
import { type ReceivedCall, useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { cryptoSignature, verifyStandardWebhook } from '../../support/signatures';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { UNKNOWN_ID } from '../stage/examples';
import { deleteWebhooks, publish, subscribe } from '../stage/steps';

const GENERATED = /^whsec_[A-Za-z0-9+/]{43}=$/;

describeOnStores('Rotating a secret', (store) => {
  const service = useService(() => ({
    DATABASE_POOL_SIZE: '10',
    RETRY_BASE_DELAY_MS: '1000',
    RETRY_JITTER: '0',
    ...store.settings(),
  }));
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  async function webhookWith(secret?: string) {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { secret });
    /** The request of one more event. */
    const call = async (): Promise<ReceivedCall> => {
      // Counted before: the request may be here before the answer to the publisher is.
      const before = hook.calls.length;
      await publish(service.api, 'job.started');
      return (await hook.received(before + 1)).at(-1)!;
    };
    return { ...webhook, hook, call };
  }

  /** Which of the secrets a receiver may hold to find the request genuine. */
  function accepting(call: ReceivedCall, secrets: readonly string[]): string[] {
    return secrets.filter((secret) => {
      try {
        return verifyStandardWebhook(call, secret) !== null;
      } catch {
        return false;
      }
    });
  }

  it.each([
    ['its own', 'a secret of mine', 'another secret of mine'],
    ['a generated one', undefined, undefined],
    ['a generated one after its own', 'a secret of mine', undefined],
    ['its own after a generated one', undefined, 'a secret of mine'],
  ])('to %s verifies before, during and after the overlap', async (_, first, second) => {
    const webhook = await webhookWith(first);
    const old = webhook.secret;
    const before = await webhook.call();
    const rotatedAt = Date.now();
    const { secret, previousSecretExpiresAt } = await dataOf(service.api.rotateSecret(webhook.id, { secret: second }));
    if (second) expect(secret).toBe(second);
    else expect(secret).toMatch(GENERATED);
    const endsAt = Date.parse(previousSecretExpiresAt) - 86_400_000;
    expect(endsAt).toBeGreaterThan(rotatedAt - 1000);
    expect(endsAt).toBeLessThan(Date.now() + 1000);
    const { secretRotatedAt, ...rotated } = await dataOf(service.api.readWebhook(webhook.id));
    expect(rotated.previousSecretExpiresAt).toBe(previousSecretExpiresAt);
    expect(Date.parse(previousSecretExpiresAt) - Date.parse(secretRotatedAt!)).toBe(86_400_000);
    const during = await webhook.call();
    await service.database.query(
      `update webhook_service.webhooks set previous_secret_expires_at = now() - interval '1 millisecond' where id = $1`,
      [webhook.id],
    );
    expect((await dataOf(service.api.readWebhook(webhook.id))).previousSecretExpiresAt).toBeNull();
    const after = await webhook.call();

    expect([before, during, after].map((call) => accepting(call, [old, secret]))).toEqual([
      [old],
      [old, secret],
      [secret],
    ]);
    expect(
      [before, during, after].map(({ body, headers }) => [
        headers['x-service-signature'] === cryptoSignature(body, body === before.body ? old : secret),
        headers['x-service-signature-previous'] === cryptoSignature(body, old),
        headers['x-service-signature-previous'] === undefined,
      ]),
    ).toEqual([
      [true, false, true],
      [true, true, false],
      [true, false, true],
    ]);
    expect(String(during.headers['webhook-signature'])).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
    expect(String(after.headers['webhook-signature'])).toMatch(/^v1,[\w+/]{43}=$/);
  });

  it('a second time within the overlap requires force, and drops the oldest secret', async () => {
    const webhook = await webhookWith();
    const { secret: second, previousSecretExpiresAt } = await dataOf(service.api.rotateSecret(webhook.id, {}));
    for (const again of [{}, { secret: webhook.secret }, { overlapSeconds: 0 }]) {
      const error = await errorOf(service.api.rotateSecret(webhook.id, again), 'rotation_running');
      expect(error).toContain(previousSecretExpiresAt);
    }
    expect(accepting(await webhook.call(), [webhook.secret, second])).toEqual([webhook.secret, second]);
    const { secret: third } = await dataOf(service.api.rotateSecret(webhook.id, { force: true }));
    expect(accepting(await webhook.call(), [webhook.secret, second, third])).toEqual([second, third]);
  });

  it.each([{ overlapSeconds: 0 }, { force: true }, {}])('to the secret in force changes nothing: %j', async (more) => {
    const webhook = await webhookWith('a secret of mine');
    const first = await service.api.rotateSecret(webhook.id, { secret: 'a secret of mine', ...more });
    expect(await dataOf(Promise.resolve(first))).toMatchObject({ previousSecretExpiresAt: null });
    const rotated = await dataOf(service.api.rotateSecret(webhook.id, { secret: 'another secret of mine' }));
    const before = await dataOf(service.api.readWebhook(webhook.id));
    expect(await dataOf(service.api.rotateSecret(webhook.id, { secret: rotated.secret, ...more }))).toEqual(rotated);
    await dataOf(service.api.updateWebhook(webhook.id, { secret: rotated.secret }));
    expect(await dataOf(service.api.readWebhook(webhook.id))).toEqual(before);
    expect(accepting(await webhook.call(), [webhook.secret, rotated.secret])).toHaveLength(2);
  });

  it('happens once when fifty requests with the same secret arrive at once', async () => {
    const webhook = await webhookWith();
    const rotate = () => service.api.rotateSecret(webhook.id, { secret: 'another secret of mine' });
    const answers = await Promise.all(Array.from({ length: 50 }, () => dataOf(rotate())));
    expect(new Set(answers.map(({ previousSecretExpiresAt }) => previousSecretExpiresAt)).size).toBe(1);
    expect(accepting(await webhook.call(), [webhook.secret, 'another secret of mine'])).toHaveLength(2);
  });

  it('waits for another one, and then finds its overlap', async () => {
    const statuses = await waitFor(
      async () => {
        const { id } = await webhookWith();
        const row = await openTransaction(service.database, [
          'select from webhook_service.webhooks where id = $1 for update',
          [id],
        ]);
        let answered = 0;
        const rotated = ['one secret of mine', 'another secret of mine'].map((secret) =>
          service.api.rotateSecret(id, { secret }).finally(() => (answered += 1)),
        );
        await row.waitedFor(2, () => answered > 0);
        await row.end('commit');
        const found = (await Promise.all(rotated)).map(({ status }) => status);
        // On a busy machine, one of them has waited for longer than it may.
        return !found.includes(503) && found;
      },
      { what: 'two rotations that wait for the row' },
    );
    expect(statuses.sort()).toEqual([200, 409]);
  });

  it('is refused within an overlap when PATCH or PUT sets another secret, unless it is forced', async () => {
    const webhook = await webhookWith();
    await dataOf(service.api.updateWebhook(webhook.id, { externalId: 'mine' }));
    const { secret: second } = await dataOf(service.api.rotateSecret(webhook.id));
    const declared = { url: webhook.url, events: webhook.events, secret: 'declared by hand' };
    await errorOf(service.api.updateWebhook(webhook.id, { secret: 'set by hand' }), 'rotation_running');
    await errorOf(service.api.saveWebhook('mine', declared), 'rotation_running');
    await dataOf(service.api.updateWebhook(webhook.id, { description: 'another field' }));
    await dataOf(service.api.saveWebhook('mine', { ...declared, secret: second }));
    expect(accepting(await webhook.call(), [webhook.secret, second])).toHaveLength(2);
    await dataOf(service.api.saveWebhook('mine', { ...declared, force: true }));
    expect(accepting(await webhook.call(), [webhook.secret, second, declared.secret])).toEqual([declared.secret]);
    await errorOf(service.api.updateWebhook(webhook.id, { force: true }), 400);
    await errorOf(service.api.updateWebhook(webhook.id, { secret: 'set by hand', force: 'yes' }), 400);
  });

  it('ends an overlap when PATCH sets a secret with force', async () => {
    const webhook = await webhookWith();
    const { secret: second } = await dataOf(service.api.rotateSecret(webhook.id));
    await dataOf(service.api.updateWebhook(webhook.id, { secret: 'set by hand', force: true }));
    const call = await webhook.call();
    expect(accepting(call, [webhook.secret, second, 'set by hand'])).toEqual(['set by hand']);
    expect(call.headers).not.toHaveProperty('x-service-signature-previous');
  });

  it('without an overlap ends the old secret at once', async () => {
    const webhook = await webhookWith();
    const { secret } = await dataOf(service.api.rotateSecret(webhook.id, { overlapSeconds: 0 }));
    expect(accepting(await webhook.call(), [webhook.secret, secret])).toEqual([secret]);
  });

  it('between two attempts has the second one signed with what is in force then', async () => {
    const webhook = await webhookWith();
    let fail: () => void = () => undefined;
    // The first attempt fails only when the secret has been rotated: no retry is too early.
    webhook.hook.answer({ status: 500, after: new Promise<void>((resolve) => (fail = resolve)) }, { status: 200 });
    const first = await webhook.call();
    const { secret } = await dataOf(service.api.rotateSecret(webhook.id)).finally(() => fail());
    const [, retry] = await webhook.hook.received(2);
    expect(accepting(first, [webhook.secret, secret])).toEqual([webhook.secret]);
    expect(accepting(retry!, [webhook.secret, secret])).toEqual([webhook.secret, secret]);
    expect(retry!.headers['x-service-attempt']).toBe('2');
  });

  it('by twenty at once leaves the last two in force, and each answers its own', async () => {
    const webhook = await webhookWith();
    const rotate = () => dataOf(service.api.rotateSecret(webhook.id, { force: true }));
    const rotations = await Promise.all(Array.from({ length: 20 }, rotate));
    const secrets = rotations.map(({ secret }) => secret);
    expect(new Set(secrets).size).toBe(20);
    expect(accepting(await webhook.call(), [webhook.secret, ...secrets])).toHaveLength(2);
  });

  it('ends the overlap when its time is over', async () => {
    const webhook = await webhookWith();
    const { previousSecretExpiresAt } = await dataOf(service.api.rotateSecret(webhook.id, { overlapSeconds: 1 }));
    const isOver = () => Date.now() > Date.parse(previousSecretExpiresAt) + 20;
    await waitFor(isOver, { what: 'the end of the overlap' });
    expect((await webhook.call()).headers).not.toHaveProperty('x-service-signature-previous');
  });

  it.each([
    [{ secret: 'short' }, /secret/],
    [{ secret: null }, /secret/],
    [{ overlapSeconds: -1 }, /overlapSeconds/],
    [{ overlapSeconds: 604_801 }, /overlapSeconds/],
    [{ overlapSeconds: '60' }, /overlapSeconds/],
    [{ overlapSeconds: 1.5 }, /overlapSeconds/],
    [{ overlap: 5 }, /overlap/],
  ])('refuses %j, and the secret stays', async (body, message) => {
    const webhook = await webhookWith();
    expect(await errorOf(service.api.rotateSecret(webhook.id, body), 400)).toMatch(message);
    expect(accepting(await webhook.call(), [webhook.secret])).toEqual([webhook.secret]);
  });

  it('is for the owner alone, with the scope webhooks:write', async () => {
    const webhook = await webhookWith();
    const stranger = await service.apiFor('mallory');
    const unknown = await errorOf(stranger.rotateSecret(UNKNOWN_ID), 404);
    expect(await errorOf(stranger.rotateSecret(webhook.id), 404)).toBe(unknown);
    const reader = await service.apiFor('admin', ['webhooks:read']);
    expect(await errorOf(reader.rotateSecret(webhook.id), 403)).toContain('webhooks:write');
    expect(service.logs()).not.toContain('whsec_');
  });
});
