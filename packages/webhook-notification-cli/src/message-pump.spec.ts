import { type ApiSchema, WebhookServiceError } from 'webhook-notification';
import type { Forwarded } from './forward';
import { Interruption } from './interruption';
import { MessagePump } from './message-pump';

type Message = ApiSchema<'Message'>;
type Acknowledgement = Required<ApiSchema<'Acknowledgement'>>;

const SUCCESS: Forwarded = { responseStatus: 200, durationMs: 1, failure: null };
const FAILURE: Forwarded = { responseStatus: 500, durationMs: 1, failure: 'Your server answered 500.' };
const unavailable = () => new WebhookServiceError('No answer.', null, null);

function messagesOf(...leaseIds: string[]): Message[] {
  return leaseIds.map((leaseId) => ({ leaseId, deliveryId: `of ${leaseId}`, expiresAt: '', headers: {}, body: '{}' }));
}

/** A pump on a service whose leases and acknowledgements are these functions. */
function pumpOn(
  service: { lease(asked: number): Promise<Message[]>; ack?(asked: number): Promise<void> },
  options: { exitAfter?: number; forward?: (message: Message) => Promise<Forwarded> } = {},
) {
  const limits: number[] = [];
  const acknowledged: Acknowledgement[] = [];
  const said: string[] = [];
  const interruption = new Interruption({ endsWithParent: false });
  interruptions.push(interruption);
  let acks = 0;
  const pump = new MessagePump({
    messages: {
      lease: async (_, { limit = 0 } = {}) => {
        // As a request would, it lets timers run.
        await new Promise(setImmediate);
        return service.lease(limits.push(limit));
      },
      acknowledge: async (_, body) => {
        await service.ack?.((acks += 1));
        acknowledged.push({ succeeded: [], failed: [], ...body });
        return { succeeded: [], failed: [], expired: [] };
      },
    },
    webhookId: 'a webhook',
    interruption,
    leaseSeconds: 40,
    exitAfter: options.exitAfter,
    forward: options.forward ?? (() => Promise.resolve(SUCCESS)),
    report: () => undefined,
    say: (sentence) => said.push(sentence),
  });
  return { pump, limits, acknowledged, said, interruption };
}

const interruptions: Interruption[] = [];
afterEach(() => interruptions.splice(0).forEach((interruption) => interruption.close()));

describe('A message pump', () => {
  it('waits a second after an empty answer that came early', async () => {
    const askedAt: number[] = [];
    const lease = (asked: number) => {
      askedAt.push(performance.now());
      return Promise.resolve(messagesOf(...(asked < 3 ? [] : ['a'])));
    };
    const { pump } = pumpOn({ lease }, { exitAfter: 1 });
    await pump.run();
    expect(askedAt).toHaveLength(3);
    expect(askedAt[2]! - askedAt[0]!).toBeGreaterThan(1900);
  });

  it('leases no more than it still has to succeed with, and acknowledges each', async () => {
    const forwarded: string[] = [];
    const { pump, limits, acknowledged } = pumpOn(
      { lease: (asked) => Promise.resolve(asked === 1 ? messagesOf('a', 'b') : messagesOf('c')) },
      {
        exitAfter: 2,
        forward: ({ leaseId }) => Promise.resolve(forwarded.push(leaseId) === 1 ? FAILURE : SUCCESS),
      },
    );
    await pump.run();
    expect([pump.succeeded, limits]).toEqual([2, [2, 1]]);
    expect(acknowledged.flatMap(({ succeeded }) => succeeded)).toEqual(['b', 'c']);
    expect(acknowledged.flatMap(({ failed }) => failed)).toEqual([
      { leaseId: 'a', message: 'Your server answered 500.' },
    ]);
  });

  it('forwards at most ten at a time, and leases again as soon as one has ended', async () => {
    const ends: (() => void)[] = [];
    const { pump, limits, interruption } = pumpOn(
      {
        lease: (asked) => {
          if (asked === 1) setImmediate(() => ends[0]?.());
          else interruption.stop();
          return Promise.resolve(asked === 1 ? messagesOf(...'abcdefghij') : []);
        },
      },
      { forward: () => new Promise((resolve) => ends.push(() => resolve(SUCCESS))) },
    );
    interruption.stopped.addEventListener('abort', () => ends.forEach((end) => end()));
    await pump.run();
    expect(limits).toEqual([10, 1]);
  });

  it('acknowledges with one request what ends at the same time, and what has ended during the one before', async () => {
    const ends = new Map<string, () => void>();
    const end = (...leaseIds: string[]) => leaseIds.forEach((leaseId) => ends.get(leaseId)?.());
    const { pump, acknowledged } = pumpOn(
      {
        lease: () => Promise.resolve(messagesOf('a', 'b', 'c', 'd')),
        ack: async () => {
          if (acknowledged.length === 0) end('c', 'd');
        },
      },
      {
        exitAfter: 4,
        forward: ({ leaseId }) =>
          new Promise((resolve) => {
            ends.set(leaseId, () => resolve(SUCCESS));
            if (leaseId === 'd') end('a', 'b');
          }),
      },
    );
    await pump.run();
    expect(acknowledged.map(({ succeeded }) => succeeded)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('says once that the service is unavailable, and once that it is back', async () => {
    const { pump, said, acknowledged } = pumpOn(
      {
        lease: (asked) => (asked < 3 ? Promise.reject(unavailable()) : Promise.resolve(messagesOf('a'))),
        ack: (asked) => (asked === 1 ? Promise.reject(unavailable()) : Promise.resolve()),
      },
      { exitAfter: 1 },
    );
    await pump.run();
    const once = [expect.stringContaining('unavailable'), 'The service is available again.'];
    expect(said).toEqual([...once, ...once]);
    expect(acknowledged).toEqual([{ succeeded: ['a'], failed: [] }]);
  });

  it.each<[string, (error: Error) => Parameters<typeof pumpOn>[0]]>([
    ['a lease', (error) => ({ lease: () => Promise.reject(error) })],
    [
      'an acknowledgement',
      (error) => ({ lease: () => Promise.resolve(messagesOf('a')), ack: () => Promise.reject(error) }),
    ],
  ])('ends when the service rejects %s', async (_, service) => {
    const revoked = new WebhookServiceError('The token was revoked.', 401, null, { fromService: true });
    await expect(pumpOn(service(revoked)).pump.run()).rejects.toBe(revoked);
  });
});
