import { dataOf, errorOf } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { cryptoSignature } from '../../support/signatures';
import { EVENT_NAMES, EXAMPLES, ISO_UTC, UUID_V7 } from '../../e2e/stage/examples';
import { deleteWebhooks, subscribe } from '../../e2e/stage/steps';

const MAX_BYTES = 98_304;

describe('Publishing an event', () => {
  const service = useService();
  const receiver = useReceiver();
  const valid = { event: 'operation.complete', data: EXAMPLES['operation.complete'] };
  const refusal = (body: unknown, status = 400) => errorOf(service.api.publish(body), status);
  const send = (rawBody: string) => service.api.call<{ id: string }>('POST', '/api/events', { rawBody });
  afterEach(() => deleteWebhooks(service.api));

  /** A body whose `result` is the given JSON text. */
  const withResult = (result: string): string => {
    const marker = '"the result"';
    return JSON.stringify({ ...valid, data: { ...valid.data, result: 'the result' } }).replace(marker, () => result);
  };

  it.each(EVENT_NAMES)('takes %s and answers its record', async (event) => {
    expect(await dataOf(service.api.publish({ event, data: EXAMPLES[event] }), 202)).toEqual({
      id: expect.stringMatching(UUID_V7),
      event,
      createdAt: expect.stringMatching(ISO_UTC),
      userId: 'admin',
      duplicate: false,
    });
  });

  it.each(EVENT_NAMES)('refuses %s without a field that its schema requires, and names the field', async (event) => {
    for (const field of Object.keys(EXAMPLES[event])) {
      const { [field]: _missing, ...data } = EXAMPLES[event] as Record<string, unknown>;
      expect(await refusal({ event, data })).toContain(field);
    }
  });

  it('returns the path of an error deep in the data', async () => {
    const gained = EXAMPLES['follower.gained'];
    const data = { ...gained, follower: { ...gained.follower, username: 5 } };
    expect(await refusal({ event: 'follower.gained', data })).toMatch(/data\W+follower\W+username/);
    const error = { name: 'TypeError' };
    const failed = { ...EXAMPLES['operation.failed'], error };
    expect(await refusal({ event: 'operation.failed', data: failed })).toMatch(/data\W+error\b.*message/);
  });

  it('takes a follower without a display name, a negative-free count and any extra field', async () => {
    const { displayName: _displayName, ...follower } = EXAMPLES['follower.gained'].follower;
    const data = { ...EXAMPLES['follower.gained'], follower, extra: { anything: [1, null, true] } };
    await dataOf(service.api.publish({ event: 'follower.gained', data }), 202);
  });

  it('takes null for what is unknown of a job that is gone, in the four job payloads', async () => {
    const gone = {
      'operation.complete': { ...EXAMPLES['operation.complete'], startedAt: null, durationMs: null, result: null },
      'operation.failed': { ...EXAMPLES['operation.failed'], startedAt: null, durationMs: null },
      'job.started': { ...EXAMPLES['job.started'], name: null },
      'job.completed': { ...EXAMPLES['job.completed'], name: null, startedAt: null, durationMs: null },
    };
    for (const [event, data] of Object.entries(gone)) await dataOf(service.api.publish({ event, data }), 202);
  });

  it.each([[], [[]], null, 'text', 5, true].map((data) => [JSON.stringify(data), data]))(
    'refuses %s as data',
    async (_, data) => {
      expect(await refusal({ ...valid, data })).toMatch(/data/);
    },
  );

  it('refuses a body without event or data, and one that is no object', async () => {
    expect(await refusal({ data: valid.data })).toMatch(/event/);
    expect(await refusal({ event: valid.event })).toMatch(/data/);
    for (const body of [[], null, 'text', [valid]]) await refusal(body);
  });

  it.each([
    ...['follower.poked', 'follower', 'Follower.Gained', 'follower..gained', '.gained', 'follower.gained '],
    ...['*', 'follower.*', '', `a.${'b'.repeat(127)}`, 'constructor', '__proto__', 'toString'],
    ...[null, 5, ['job.started'], {}],
  ])('refuses the event name %j', async (event) => {
    expect(await refusal({ ...valid, event })).toMatch(/event/);
  });

  it.each(['webhook.test', 'webhook.disabled', 'webhook.failing', 'webhook.healthy', 'webhook.anything'])(
    'refuses the reserved name %s',
    async (event) => {
      expect(await refusal({ event, data: {} })).toMatch(/webhook\./);
    },
  );

  it.each(['id', 'createdAt', 'publisherId', 'toString'])('names the unknown field %s', async (field) => {
    expect(await refusal({ ...valid, [field]: 'x' })).toContain(field);
  });

  it.each(['', 'a b', 'ü', 'a/b', 'x'.repeat(129), 5])('refuses the userId %j', async (userId) => {
    expect(await refusal({ ...valid, userId })).toMatch(/userId/);
  });

  it('takes a request body of exactly EVENT_MAX_BYTES, and answers 413 to one byte more', async () => {
    const frame = Buffer.byteLength(withResult('""'));
    const ofSize = (bytes: number) => withResult(JSON.stringify('x'.repeat(bytes - frame)));
    expect(Buffer.byteLength(ofSize(MAX_BYTES))).toBe(MAX_BYTES);
    await dataOf(send(ofSize(MAX_BYTES)), 202);
    await errorOf(send(ofSize(MAX_BYTES + 1)), 413);
  });

  it('takes data nested 64 deep, and no deeper', async () => {
    // `data` itself is the first level.
    const nested = (depth: number) => withResult('['.repeat(depth - 1) + ']'.repeat(depth - 1));
    await dataOf(send(nested(64)), 202);
    for (const depth of [65, 5000, 20_000]) expect(await errorOf(send(nested(depth)), 400)).toMatch(/deep|nest|depth/i);
  });

  it.each(['1e400', '-1e400', '1046754817289310209', '-9007199254740992', '1e20', '9007199254740993.0'])(
    'refuses the number %s, which no double holds exactly',
    async (number) => {
      expect(await errorOf(send(withResult(`{"ids":[1,${number}]}`)), 400)).toBe(
        'data.result.ids[1] must not be beyond ±9007199254740991; send larger ones as strings',
      );
    },
  );

  it.each([
    ['a constructor key', '{"constructor":1,"toString":null,"hasOwnProperty":{"a":1}}'],
    ['integer-like keys', '{"b":1,"2":1,"a":{"10":1,"9":1}}'],
    ['numbers in odd spellings', '[1.0,1e3,-0,0.10,9007199254740991,0.12345678901234567890,5e-324,1E+2]'],
    ['lone surrogates', String.raw`"\ud800 and \udc00"`],
    ['NUL', String.raw`{"a\u0000b":"\u0000"}`],
    ['escapes that need none', String.raw`"\u00e9 \/ \u2028 \ud83d\udd11"`],
    ['white space', '{ "a" : 1 ,\n\t"b" : 2 }'],
    ['an empty key', '{"":{"":""}}'],
  ])('delivers %s as it was sent, in a body that is its own serialisation', async (_, result) => {
    const hook = receiver.hook();
    await subscribe(service.api, hook, ['operation.complete'], { secret: 'a secret of mine' });
    const { id } = await dataOf(send(withResult(result)), 202);
    const [call] = await hook.received(1);
    const body = call!.body.toString();
    expect(JSON.stringify(JSON.parse(body))).toBe(body);
    expect(call!.headers['x-service-signature']).toBe(cryptoSignature(call!.body, 'a secret of mine'));
    expect(JSON.parse(body).data.result).toEqual(JSON.parse(JSON.stringify(JSON.parse(result))));
    expect((await dataOf(service.api.readEvent(id))).data).toEqual(JSON.parse(body).data);
  });
});
