import { createClient, type Fetch, verifySignature, WebhookServiceError } from 'webhook-notification';
import { useReceiver } from '../../support/receiver';
import { freePort, useService } from '../../support/service';
import { EXAMPLES } from '../stage/examples';

const LIMIT = 30;
const SCOPES = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];
const REQUESTS_OVER = expect.stringMatching(/^Too many requests\. Try again in \d+ seconds?\.$/) as string;

interface Seen {
  url: string;
  status: number;
  startedAtMs: number;
  retryAfter: string | null;
  requestId: string | null;
}

/** The global fetch, and what came of each request. */
function watchedFetch(): { fetch: Fetch; seen: Seen[] } {
  const seen: Seen[] = [];
  const fetch: Fetch = async (url, request) => {
    const startedAtMs = performance.now();
    const answer = await globalThis.fetch(url, request);
    seen.push({
      url,
      status: answer.status,
      startedAtMs,
      retryAfter: answer.headers.get('retry-after'),
      requestId: answer.headers.get('x-request-id'),
    });
    return answer;
  };
  return { fetch, seen };
}

describe('The client', () => {
  const service = useService({ RATE_LIMIT_PER_MINUTE: String(LIMIT) });
  const receiver = useReceiver();

  /** Of a user who is not in the others' way. */
  async function clientOf(user: string, maxRetries?: number) {
    const token = await service.createToken(user, SCOPES);
    const { fetch, seen } = watchedFetch();
    return { client: createClient({ url: `${service.url}/`, token, fetch, maxRetries }), seen };
  }

  it('creates a webhook, publishes an event once however often it is sent, and finds its delivery', async () => {
    const { client } = await clientOf('ada');
    const hook = receiver.hook();
    const webhook = await client.webhooks.create({ url: hook.url, events: ['job.*'], active: true });
    const event = { event: 'job.started', data: EXAMPLES['job.started'], idempotencyKey: 'job 17' } as const;
    const published = await client.events.publish(event);
    expect(published).toMatchObject({ event: 'job.started', userId: 'ada', duplicate: false });
    expect(await client.events.publish(event)).toEqual({ ...published, duplicate: true });
    const [call] = await hook.received(1);
    expect(verifySignature(call?.body ?? '', call?.headers ?? {}, webhook.secret)).toMatchObject({ id: published.id });
    const tested = await client.webhooks.test(webhook.id, { event: 'job.completed' });
    expect(tested).toMatchObject({ status: 'succeeded', trigger: 'test', webhookId: webhook.id });
    expect(await client.deliveries.read(tested.id)).toEqual(tested);
    expect(await client.webhooks.update(webhook.id, { active: false })).toMatchObject({ active: false });
    expect(await client.webhooks.remove(webhook.id)).toEqual({ id: webhook.id });
  });

  it('goes through a list page after page', async () => {
    const { client, seen } = await clientOf('bea');
    const published = await client.events.publishBatch(
      [1, 2, 3, 4, 5].map((n) => ({
        event: 'follower.gained',
        data: { ...EXAMPLES['follower.gained'], followersCount: n },
      })),
    );
    expect(published).toHaveLength(5);
    const found: string[] = [];
    for await (const event of client.events.all({ event: 'follower.gained', limit: 2 })) found.push(event.id);
    expect(found.sort()).toEqual(published.map(({ id }) => id).sort());
    expect(seen.filter(({ url }) => url.includes('/api/events?'))).toHaveLength(3);
  });

  it('throws the message of the service, its status and the id of the request', async () => {
    const { client, seen } = await clientOf('cyd');
    const missing = await client.webhooks.read(crypto.randomUUID()).catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(WebhookServiceError);
    expect(missing).toMatchObject({
      message: 'There is no webhook with this id.',
      status: 404,
      requestId: seen[0]?.requestId,
    });
    expect(seen[0]?.requestId).toMatch(/^[0-9a-f-]{36}$/);
    const stranger = createClient({ url: service.url, token: 'wns_unknown' });
    await expect(stranger.me()).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('valid access token'),
    });
    await expect(client.events.publish({ event: 'no.such', data: {} })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('There is no event named'),
    });
  });

  it('retries after a 429, after the time in retry-after', async () => {
    const { client, seen } = await clientOf('dan');
    // Five of a user's requests may wait for changes at once: the sixth is sent away for a second.
    const waiting = { changedAfter: 'now', waitSeconds: 2 };
    const pages = await Promise.all(Array.from({ length: 6 }, () => client.deliveries.list(waiting)));
    expect(pages.map(({ data }) => data)).toEqual([[], [], [], [], [], []]);
    const refused = seen.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    expect(seen).toHaveLength(6 + refused.length);
    expect(refused[0]?.retryAfter).toBe('1');
    const repeatedAtMs = Math.max(...seen.map(({ startedAtMs }) => startedAtMs));
    expect(repeatedAtMs - (refused[0]?.startedAtMs ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it('says that there were too many requests when it may not come again', async () => {
    const { client, seen } = await clientOf('eve', 0);
    for (let i = 0; i < LIMIT; i++) await client.me();
    await expect(client.me()).rejects.toMatchObject({ status: 429, message: REQUESTS_OVER });
    expect(seen.map(({ status }) => status)).toEqual([...Array.from({ length: LIMIT }, () => 200), 429]);
  });

  it('reports that nothing listens when the service is down', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const error = await createClient({ url, token: 'wns_unused', maxRetries: 1 })
      .me()
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'WebhookServiceError', status: null, requestId: null });
    expect((error as Error).message).toBe(`No answer to GET ${url}/api/me: connect ECONNREFUSED ${url.slice(7)}.`);
  });
});
