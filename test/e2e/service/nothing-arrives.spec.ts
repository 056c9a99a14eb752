import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ordinaryPostgresBin } from '../../../scripts/ordinary-postgres.cjs';
import { type Api, type CreatedWebhook, dataOf } from '../../support/api';
import { type Answer, type Hook, useReceiver } from '../../support/receiver';
import { freePort, useService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../stage/examples';
import { describeWhereInstalled } from '../../support/programs';
import { Operator } from '../stage/operator';
import { deleteWebhooks, deliveriesOf, fannedOut, publish, settledDeliveries, subscribe } from '../stage/steps';
import { DAY_MS } from '../../../src/infrastructure/config/durations';

const PAGE = 'docs/nothing-arrives.md';
const PSQL = join(ordinaryPostgresBin() ?? '/usr/lib/postgresql/15/bin', 'psql');
const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
const CUSTOMER = 'customer-7';
const SECRET = 'correct horse battery staple';
/** An event that no webhook of the customer subscribes to, unless a test creates one. */
const UNUSED = 'operation.failed';

/** The examples of the page, which the operator replaces. */
const EXAMPLE = {
  text: 'hooks.customer.example',
  user: 'alice',
  webhook: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90',
  event: 'order.paid',
  since: '2026-01-15T09:00:00Z',
  eventId: '0199c3a4-7000-7c52-9d5a-3f1b7d2c8e90',
  delivery: '0199c3a4-8000-7c52-9d5a-3f1b7d2c8e90',
  secret: 'their secret',
  dryRun: ', \\"dryRun\\": true',
};

/** The rows of a table that psql prints. */
function rowsOf(printed: string): Record<string, string>[] {
  const [header = '', , ...lines] = printed.split('\n');
  const cellsOf = (line: string) => line.split('|').map((cell) => cell.trim());
  const rows = lines.slice(
    0,
    lines.findIndex((line) => /^\(\d+ rows?\)$/.test(line)),
  );
  return rows.map((row) => Object.fromEntries(cellsOf(row).map((cell, i) => [cellsOf(header)[i], cell])));
}

/** The columns of the row that psql prints with -x. */
function columnsOf(printed: string): Record<string, string> {
  const cells = printed.split('\n').filter((line) => line.includes(' | '));
  return Object.fromEntries(cells.map((line) => line.split('|').map((cell) => cell.trim())) as [string, string][]);
}

type Command = ReturnType<Operator['command']>;

describeWhereInstalled(`${PSQL} jq curl`, 'The page for "nothing arrives"', () => {
  const receiver = useReceiver();
  // A webhook has one slot, retries take a day, and one event without an attempt left disables a webhook.
  const service = useService({
    SECRETS_KEY,
    WEBHOOK_CONCURRENCY: '1',
    DELIVERY_TIMEOUT_MS: '60000',
    RETRY_BASE_DELAY_MS: String(DAY_MS),
    DISABLE_AFTER_FAILURES: '1',
    DISABLE_AFTER_HOURS: '0',
  });
  let folder: string;
  let operator: Operator;
  let customer: Api;
  let other: Api;
  let which: Command;
  let published: Command;
  let compared: Command;
  let filtered: Command;
  let attempts: Command;
  let verified: Command;
  let repaired: Command;
  let sentAgain: Command;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'nothing-arrives-'));
    customer = await service.apiFor(CUSTOMER);
    other = await service.apiFor('customer-8');
    operator = new Operator(PAGE, folder, {
      DATABASE_URL: service.database.url,
      SECRETS_KEY,
      WEBHOOKS_URL: service.url,
    });
    which = operator.command('Which webhook is it?');
    const signIn = operator.command('Which webhook is it?');
    published = operator.command('Was the event published, and for whom?');
    compared = operator.command('Why did the webhook not get it?');
    filtered = operator.command('Why did the webhook not get it?');
    attempts = operator.command('What do the attempts say?');
    verified = operator.command('What do the attempts say?');
    repaired = operator.command('Is it disabled?');
    sentAgain = operator.command('How do I send it again?');
    expect(await signIn({ [EXAMPLE.user]: CUSTOMER })).toMatch(/^\/console\/events#code=\S+\n$/);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const hookOf = (...answers: Answer[]): Hook => receiver.hook(...answers);
  const published24h = async (event: string) => {
    const since = new Date(Date.now() - DAY_MS).toISOString().replace(/\.\d+/, '');
    return rowsOf(await published({ [EXAMPLE.event]: event, [EXAMPLE.since]: since }));
  };
  const verdictOn = async (webhook: { id: string }, event: { id: string }) =>
    columnsOf(await compared({ [EXAMPLE.eventId]: event.id }, { WEBHOOK: webhook.id }));
  const attemptsOf = async ({ id }: { id: string }) =>
    (await attempts({}, { WEBHOOK: id }))
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => line.split('\t'))
      .map(([id, event, attempt, status, waitsFor, code, message]) => ({
        ...{ id, event, attempt, status, waitsFor, code, message },
      }));
  const rowOf = async ({ url, id }: { url: string; id: string }) =>
    rowsOf(await which({ [EXAMPLE.text]: new URL(url).pathname })).find((row) => row.id === id);

  describe('finds the webhook', () => {
    it('by its url and by its user, and no row for a user without one', async () => {
      const webhook = await subscribe(customer, hookOf(), ['job.started']);
      expect(await rowOf(webhook)).toMatchObject({ user_id: CUSTOMER, url: webhook.url, active: 't' });
      const ofUser = rowsOf(await which({ [EXAMPLE.text]: CUSTOMER }));
      expect(ofUser.map(({ id }) => id)).toContain(webhook.id);
      expect(rowsOf(await which({ [EXAMPLE.text]: 'a-user-without-webhooks' }))).toEqual([]);
    });
  });

  describe('shows whether the event was published', () => {
    it('no row of an event that was not', async () => {
      expect(await published24h('operation.complete')).toEqual([]);
    });

    it('another audience of an event for another user', async () => {
      const event = await publish(other, 'follower.lost');
      await fannedOut(other, event);
      expect(await published24h('follower.lost')).toEqual([
        expect.objectContaining({ id: event.id, audience: 'customer-8', fanned_out_at: expect.stringMatching(/^20/) }),
      ]);
      const webhook = await subscribe(customer, hookOf(), ['follower.lost']);
      const event2 = await publish(other, 'follower.lost');
      await fannedOut(other, event2);
      expect(await verdictOn(webhook, event2)).toMatchObject({
        ...{ deliveries: '0', for_its_user: 'f', existed: 't', subscribes: 't', was_active: 't', unfiltered: 't' },
      });
    });

    it('everybody as the audience of an event for all users', async () => {
      const event = await publish(service.api, 'job.completed', { userId: null });
      expect(await published24h('job.completed')).toEqual([
        expect.objectContaining({ id: event.id, audience: 'everybody', publisher_id: 'admin' }),
      ]);
    });
  });

  describe('shows why a webhook did not get an event', () => {
    const ALL = { for_its_user: 't', existed: 't', subscribes: 't', was_active: 't', unfiltered: 't' };

    it('it was created later', async () => {
      const event = await publish(customer, UNUSED);
      await fannedOut(customer, event);
      const webhook = await subscribe(customer, hookOf(), [UNUSED]);
      expect(await verdictOn(webhook, event)).toMatchObject({ deliveries: '0', ...ALL, existed: 'f' });
    });

    it('it does not subscribe to it, whatever its patterns', async () => {
      const webhook = await subscribe(customer, hookOf(), ['job.*', 'follower.gained']);
      const event = await publish(customer, UNUSED);
      await fannedOut(customer, event);
      expect(await verdictOn(webhook, event)).toMatchObject({ deliveries: '0', ...ALL, subscribes: 'f' });
    });

    it('it was not active', async () => {
      const webhook = await subscribe(customer, hookOf(), [UNUSED], { active: false });
      const event = await publish(customer, UNUSED);
      await fannedOut(customer, event);
      await dataOf(customer.updateWebhook(webhook.id, { active: true }));
      expect(await verdictOn(webhook, event)).toMatchObject({ deliveries: '0', ...ALL, was_active: 'f' });
    });

    it('its filter dropped it, by these conditions', async () => {
      const filter = { 'data.attempts': { gte: 100 } };
      const webhook = await subscribe(customer, hookOf(), ['operation.*'], { filter });
      const event = await publish(customer, UNUSED);
      await fannedOut(customer, event);
      expect(await verdictOn(webhook, event)).toMatchObject({ deliveries: '0', ...ALL, unfiltered: 'f' });
      const check = JSON.parse(await filtered({}, { WEBHOOK: webhook.id })) as object;
      expect(check).toEqual({
        matches: false,
        failed: [{ path: 'data.attempts', operator: 'gte', expected: 100, found: '3' }],
      });
    });

    it('it got it', async () => {
      const hook = hookOf();
      const webhook = await subscribe(customer, hook, ['*']);
      const event = await publish(customer, UNUSED);
      await settledDeliveries(customer, webhook, event);
      expect(await verdictOn(webhook, event)).toMatchObject({ deliveries: '1', ...ALL });
      await dataOf(customer.deleteWebhook(webhook.id));
    });
  });

  describe('shows what became of the attempts', () => {
    /** Subscribes a webhook to job.started, publishes as many events, and waits until the page shows these rows for it. */
    const shows = async (webhook: CreatedWebhook, events: number, rows: Record<string, string>[]) => {
      const event = { event: 'job.started', data: EXAMPLES['job.started'] };
      if (events > 0) await dataOf(customer.publishBatch({ events: Array.from({ length: events }, () => event) }), 202);
      const matching = async () => {
        const shown = await attemptsOf(webhook);
        return rows.every((row) =>
          shown.some((each) => Object.entries(row).every(([key, value]) => each[key as keyof typeof each] === value)),
        );
      };
      await waitFor(matching, { what: `${JSON.stringify(rows)} among the attempts` });
    };
    afterEach(() => deleteWebhooks(customer));

    const listening = (hook: Hook, more: object = {}) => subscribe(customer, hook, ['job.started'], { ...more });

    it('the receiver returned 500, and a retry waits', async () => {
      const webhook = await listening(hookOf({ status: 500 }));
      await shows(webhook, 1, [
        { attempt: '1', status: 'failed', code: 'http_status' },
        { attempt: '2', status: 'pending', waitsFor: 'backoff' },
      ]);
    });

    it('nothing listens', async () => {
      const url = `http://127.0.0.1:${await freePort()}/`;
      await shows(await listening({ url } as Hook), 1, [{ status: 'failed', code: 'connection_refused' }]);
    });

    it('a slow receiver holds its only slot', async () => {
      let release = (): void => undefined;
      const webhook = await listening(hookOf({ after: new Promise<void>((resolve) => (release = resolve)) }));
      await shows(webhook, 3, [
        { status: 'pending', waitsFor: '' },
        { status: 'pending', waitsFor: 'slot' },
      ]).finally(release);
    });

    it('its rate makes it wait', async () => {
      // It sends the last of these after two minutes.
      await shows(await listening(hookOf(), { maxPerSecond: 0.1 }), 12, [{ status: 'pending', waitsFor: 'rate' }]);
    });

    it('no consumer leases', async () => {
      const webhook = await dataOf(customer.createWebhook({ kind: 'pull', events: ['job.started'] }), 201);
      await shows(webhook, 1, [{ status: 'pending', waitsFor: 'consumer' }]);
    });

    it('it was disabled while an event waited', async () => {
      const webhook = await listening(hookOf({ status: 500 }));
      const event = await publish(customer, 'job.started');
      const waits = async () => (await deliveriesOf(customer, webhook, event)).length === 2;
      await waitFor(waits, { what: 'the retry' });
      await dataOf(customer.updateWebhook(webhook.id, { active: false }));
      await shows(webhook, 0, [{ attempt: '2', status: 'canceled', code: 'webhook_disabled' }]);
    });

    it('everything was delivered, but the customer checks another secret', async () => {
      const webhook = await listening(hookOf(), { secret: SECRET });
      const event = await publish(customer, 'job.started');
      const [delivery] = await settledDeliveries(customer, webhook, event);
      expect(await attemptsOf(webhook)).toEqual([expect.objectContaining({ id: delivery!.id, status: 'succeeded' })]);
      const own = { [EXAMPLE.delivery]: delivery!.id };
      expect(await verified({ ...own, [EXAMPLE.secret]: SECRET })).toMatch(/"error": null[^]*^Genuine\.$/m);
      const wrong = verified({ ...own, [EXAMPLE.secret]: 'another secret' });
      await expect(wrong).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('Not genuine.') });
    });
  });

  it('finds a webhook that failed too long, activates it once its receiver works, and sends again', async () => {
    const hook = hookOf({ status: 500 });
    const more = { retryDelaysMs: [], description: 'failing' };
    const webhook = await subscribe(customer, hook, ['follower.gained'], more);
    const event = await publish(customer, 'follower.gained');
    const isDisabled = async () => (await rowOf(webhook))?.disabled_reason === 'failing';
    await waitFor(isDisabled, { what: 'the webhook to be disabled' });
    expect(await rowOf(webhook)).toMatchObject({ active: 'f', disabled_at: expect.stringMatching(/^20/) });
    const meanwhile = await publish(customer, 'follower.gained');
    await fannedOut(customer, meanwhile);

    await expect(repaired({}, { WEBHOOK: webhook.id })).rejects.toMatchObject({
      stdout: expect.stringMatching(/"code": "http_status"[^]*^false$/m),
    });
    expect((await dataOf(customer.readWebhook(webhook.id))).active).toBe(false);
    hook.answer({ status: 200 });
    expect(await repaired({}, { WEBHOOK: webhook.id })).toMatch(/^null\ntrue\ntrue\n$/);

    const [failed] = await deliveriesOf(customer, webhook, event);
    const since = new Date(Date.now() - DAY_MS).toISOString();
    const variables = { WEBHOOK: webhook.id, DELIVERY: failed!.id, SINCE: since };
    const [redelivered, missed] = (await sentAgain({}, variables)).trim().split('\n');
    expect(missed).toBe('1');
    const isDelivered = async () =>
      (await deliveriesOf(customer, webhook, event)).some(
        ({ id, status }) => id === redelivered && status === 'succeeded',
      );
    await waitFor(isDelivered, { what: 'the redelivery' });
    expect((await sentAgain({ [EXAMPLE.dryRun]: '' }, variables)).trim().split('\n')).toHaveLength(2);
    await settledDeliveries(customer, webhook, meanwhile);
  });

  it('finds a webhook that its owner, or a 410, has disabled', async () => {
    const byHand = await subscribe(customer, hookOf(), ['follower.gained'], { active: false });
    expect(await rowOf(byHand)).toMatchObject({ active: 'f', disabled_reason: '' });
    const gone = await subscribe(customer, hookOf({ status: 410 }), ['follower.gained']);
    await publish(customer, 'follower.gained');
    const isGone = async () => (await rowOf(gone))?.disabled_reason === 'gone';
    await waitFor(isGone, { what: 'the webhook to be disabled' });
  });

  it('shows whether the service is ready, and the outcomes of all webhooks', async () => {
    const isItUs = operator.command('Is it us?');
    const outcomes = async () => {
      const printed = await isItUs();
      expect(printed).toMatch(/^\{\n +"status": "ready"/);
      const found = rowsOf(printed.slice(printed.indexOf('\n}\n') + 3));
      const has = (status: string, code: string) =>
        found.some((row) => row.status === status && row.error_code === code && Number(row.webhooks) > 0);
      return has('succeeded', '') && has('failed', 'http_status') && has('failed', 'connection_refused');
    };
    await waitFor(outcomes, { what: 'the counts of attempts' });
  });

  it('has no other block', () => {
    expect(operator.untouched).toEqual([]);
  });
});
