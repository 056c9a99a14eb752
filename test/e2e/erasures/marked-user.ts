import { randomBytes } from 'node:crypto';
import { type Api, dataOf, type PublishedEvent } from '../../support/api';
import type { Hook, Receiver } from '../../support/receiver';
import type { Service } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../stage/examples';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

const USER_SCOPES = [
  ...['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish', 'events:broadcast'],
  ...['event-types:manage', 'accounts:manage', 'tokens:manage', 'users:manage'],
];

/** A user who has left a mark in every field that a user can write. */
export class MarkedUser {
  readonly marks: string[] = [];
  readonly id = this.mark('user');
  /** Their token, one made with it, one made with that, one for another user, and a session. */
  readonly tokens: string[] = [];
  /** What others keep of the user's events. */
  readonly kept = `kept-${randomBytes(6).toString('hex')}`;
  forBob!: PublishedEvent;
  forAll!: PublishedEvent;

  constructor(
    private readonly service: Service,
    private readonly receiver: Pick<Receiver, 'hook'>,
  ) {}

  /** Makes a new mark, which must not be found afterwards. */
  mark(name: string): string {
    const mark = `mark-${name}-${randomBytes(6).toString('hex')}`;
    this.marks.push(mark);
    return mark;
  }

  async leaveMarks(): Promise<void> {
    const token = await this.service.createToken(this.id, USER_SCOPES);
    const api = this.service.api.withToken(token);
    this.tokens.push(token);
    await this.makeTokens(api);
    await this.keepAccounts(api);
    const { failing, working } = await this.registerWebhooks(api);
    await this.publishAndDeliver(api, failing, working);
    const body = { description: 'Stays.', application: 'shop' };
    const declared = await api.call('PUT', '/api/event-types/shop.forgotten', { body });
    if (!declared.success) throw new Error(declared.error);
    await this.publishForOthers(api);
  }

  private async makeTokens(api: Api): Promise<void> {
    const scopes = ['tokens:manage', 'webhooks:read'];
    const child = await dataOf(api.createToken({ name: this.mark('token'), scopes }), 201);
    const childApi = this.service.api.withToken(child.token);
    const grandchild = await dataOf(childApi.createToken({ name: this.mark('token-of-token'), scopes }), 201);
    const forCarol = { name: this.mark('token-of-carol'), scopes: ['webhooks:read'], userId: 'carol' };
    const ofCarol = await dataOf(api.createToken(forCarol), 201);
    const session = await dataOf(api.beginSession({}), 201);
    await dataOf(api.createConsoleLink({}), 201);
    this.tokens.push(child.token, grandchild.token, ofCarol.token, session.token);
  }

  private async keepAccounts(api: Api): Promise<void> {
    const account = await dataOf(api.createAccount({ provider: 'push', handle: this.mark('handle') }), 201);
    const follower = () => ({
      ...{ id: this.mark('follower'), username: this.mark('username'), displayName: this.mark('display') },
    });
    const [first, second, third] = [follower(), follower(), follower()];
    for (const followers of [[first], [first, second], [second, third]])
      await dataOf(api.call('PUT', `/api/accounts/${account.id}/followers`, { body: { followers } }));
  }

  private async registerWebhooks(api: Api) {
    const answer = {
      headers: {
        'user-agent': this.mark('agent'),
        server: this.mark('server'),
        'x-mark': this.mark('response-header'),
      },
      body: this.mark('response'),
    };
    const marked = (hook: Hook) => ({
      url: `${hook.url}?${this.mark('query-name')}=${this.mark('query-value')}`,
    });
    const failing = await subscribe(api, marked(this.receiver.hook({ ...answer, status: 500 })), ['*'], {
      description: this.mark('old-description'),
      metadata: { [this.mark('metadata')]: this.mark('metadata-value') },
      externalId: this.mark('external'),
      filter: { [`data.${this.mark('path')}`]: { exists: false }, 'data.x': { ne: this.mark('filter') } },
      headers: { [`X-${this.mark('header-name')}`]: this.mark('header-value') },
      fields: ['jobId', 'name', this.mark('field')],
      retryDelaysMs: [600_000, 600_000],
    });
    await dataOf(api.updateWebhook(failing.id, { description: this.mark('description') }));
    const working = await subscribe(api, marked(this.receiver.hook(answer)), ['job.started', 'job.completed'], {
      description: this.mark('description-2'),
      externalId: this.mark('external-2'),
      secret: this.mark('secret'),
      format: 'slack',
    });
    return { failing, working };
  }

  private async publishAndDeliver(api: Api, failing: { id: string }, working: { id: string }): Promise<void> {
    const job = (jobId: string) => ({ ...EXAMPLES['job.started'], jobId, name: this.mark('job-name') });
    const idempotencyKey = this.mark('key');
    const subject = this.mark('subject');
    const event = await publish(api, 'job.started', { data: job(this.mark('job')), idempotencyKey, subject });
    const [delivery] = await settledDeliveries(api, working, event);
    await dataOf(api.testWebhook(working.id));
    await dataOf(api.redeliver(working.id, delivery!.id), 202);
    await dataOf(api.rotateSecret(working.id, { secret: this.mark('new-secret') }));
    await dataOf(api.updateWebhook(working.id, { active: false }));
    await dataOf(api.updateWebhook(working.id, { active: true }));
    await dataOf(api.recover(working.id, { since: event.createdAt }), 202);
    // The retries are due in ten minutes: their jobs contain the user's id, and a canceled row leaves its job.
    const waiting = async () => (await dataOf(api.listDeliveries(failing.id, { status: 'pending' }))).length;
    await waitFor(async () => (await waiting()) > 0, { what: 'a retry' });
    await dataOf(api.updateWebhook(failing.id, { active: false }));
    await dataOf(api.updateWebhook(failing.id, { active: true }));
    await publish(api, 'operation.complete', {
      data: { ...EXAMPLES['operation.complete'], result: { [this.mark('result')]: this.mark('result-value') } },
    });
    const events = [1, 2].map(() => ({
      ...{ event: 'job.started', data: job(this.mark('batch')), idempotencyKey: this.mark('batch-key') },
    }));
    await dataOf(api.publishBatch({ events }), 202);
    await waitFor(async () => (await waiting()) >= 3, { what: 'failed attempts and their retries' });
  }

  private async publishForOthers(api: Api): Promise<void> {
    const data = { ...EXAMPLES['job.started'], jobId: this.kept };
    const subject = this.kept;
    const key = () => ({ idempotencyKey: this.mark('key-for-others') });
    const headers = { traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01` };
    const send = (more: object) =>
      dataOf(
        api.call<PublishedEvent>('POST', '/api/events', {
          headers,
          body: { event: 'job.started', data, subject, ...key(), ...more },
        }),
        202,
      );
    this.forBob = await send({ userId: 'bob' });
    this.forAll = await send({ userId: null });
  }
}
