import { Body, Controller, type INestApplication, Logger, Module, Post, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ExpressAdapter } from 'platform-express';
import { serviceSignature, standardSignature, verifySignature } from 'webhook-notification';
import { WebhookSignatureGuard } from 'webhook-notification/nest/receiver';

const SECRET = 'correct horse battery staple';
const BODY = '{"id":"evt_1","event":"job.started","createdAt":"2026-01-15T09:30:00.000Z","data":{"é":[1, 2.0]}}';

/** Has a guard of its own, because a guard logs a missing raw body only once. */
function receiverModule(): object {
  @Controller('hooks')
  @UseGuards(new WebhookSignatureGuard({ secret: async () => [SECRET, 'the secret before'] }))
  class HooksController {
    @Post()
    receive(@Body() event: object): object {
      return event;
    }
  }

  @Module({ controllers: [HooksController] })
  class ReceiverModule {}

  return ReceiverModule;
}

const ADAPTERS = { Fastify: () => new FastifyAdapter(), Express: () => new ExpressAdapter() };
type Framework = keyof typeof ADAPTERS;

async function start(on: Framework, options: { rawBody?: boolean }): Promise<INestApplication> {
  const app = await NestFactory.create(receiverModule(), ADAPTERS[on](), { logger: false, ...options });
  await app.listen(0, '127.0.0.1');
  return app;
}

async function post(app: INestApplication, headers: Record<string, string>, body = BODY): Promise<[number, unknown]> {
  const answer = await fetch(`${await app.getUrl()}/hooks`, { method: 'POST', headers, body });
  return [answer.status, await answer.json()];
}

function headersFor(body: string, secret: string, at = Math.floor(Date.now() / 1000)): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-service-signature': serviceSignature(body, secret),
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(at),
    'webhook-signature': standardSignature('evt_1', at, body, secret),
  };
}

describe.each(['Fastify', 'Express'] as const)('WebhookSignatureGuard on %s', (on) => {
  let app: INestApplication;
  beforeAll(async () => {
    app = await start(on, { rawBody: true });
  });
  afterAll(() => app.close());

  it.each([SECRET, 'the secret before'])('accepts requests signed with %p', async (secret) => {
    expect(await post(app, headersFor(BODY, secret))).toEqual([201, JSON.parse(BODY)]);
  });

  it.each([
    ['another secret', headersFor(BODY, 'another'), BODY, /No signature matches/],
    ['a changed byte', headersFor(BODY, SECRET), BODY.replace('evt_1', 'evt_2'), /No signature matches/],
    ['an old timestamp', headersFor(BODY, SECRET, 1_700_000_000), BODY, /s in the past/],
    ['no signature', { 'content-type': 'application/json' }, BODY, /webhook-id is missing/],
  ])('returns 401 for %s', async (_, headers, body, message) => {
    expect(await post(app, headers, body)).toEqual([
      401,
      expect.objectContaining({ message: expect.stringMatching(message) }),
    ]);
  });

  it('requires the signed timestamp', async () => {
    const { 'x-service-signature': signature = '' } = headersFor(BODY, SECRET);
    const [status] = await post(app, { 'content-type': 'application/json', 'x-service-signature': signature });
    expect(status).toBe(401);
  });

  it.each<[string, Record<string, string>, string | undefined]>([
    ['no body', {}, undefined],
    ['a body of another type', { 'content-type': 'text/plain' }, BODY],
  ])('returns 401 and logs nothing for a request with %s', async (_, headers, body) => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const answer = await fetch(`${await app.getUrl()}/hooks`, { method: 'POST', headers, ...(body && { body }) });
    expect([answer.status, await answer.json()]).toEqual([401, expect.objectContaining({ error: 'body_not_raw' })]);
    expect(error).not.toHaveBeenCalled();
    error.mockRestore();
  });

  it('returns 401 when the application keeps no raw body, and logs once what is missing', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const without = await start(on, {});
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await post(without, headersFor(BODY, SECRET)));
    await without.close();
    expect(answers).toEqual(Array(3).fill([401, expect.objectContaining({ error: 'body_not_raw' })]));
    expect(error.mock.calls).toEqual([[expect.stringContaining('{ rawBody: true }')]]);
    error.mockRestore();
  });
});

describe('WebhookSignatureGuard', () => {
  it.each([NaN, -1, Infinity, '300', null])('rejects a tolerance of %p', (toleranceSeconds) => {
    const options = { secret: SECRET, toleranceSeconds: toleranceSeconds as number };
    expect(() => new WebhookSignatureGuard(options)).toThrow(TypeError);
  });
});

describe('verifySignature', () => {
  it('uses the time of this machine, and a tolerance of 300 s by default', () => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    expect(verifySignature(BODY, headersFor(BODY, SECRET, nowSeconds - 250), SECRET)).toEqual(JSON.parse(BODY));
    const old = headersFor(BODY, SECRET, nowSeconds - 320);
    expect(() => verifySignature(BODY, old, SECRET)).toThrow(/s in the past/);
    expect(verifySignature(BODY, old, SECRET, { toleranceSeconds: 600 })).toEqual(JSON.parse(BODY));
  });

  it('rejects a request without a signed timestamp unless the options ask for less', () => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const { 'x-service-signature': signature = '', ...signed } = headersFor(BODY, SECRET, nowSeconds);
    const stripped = { 'x-service-signature': signature };
    expect(() => verifySignature(BODY, stripped, SECRET)).toThrow(
      expect.objectContaining({ reason: 'header_missing' }),
    );
    expect(verifySignature(BODY, signed, SECRET)).toEqual(JSON.parse(BODY));
    for (const scheme of ['any', 'service'] as const) {
      expect(verifySignature(BODY, stripped, SECRET, { scheme })).toEqual(JSON.parse(BODY));
    }
  });

  it.each([NaN, -1, Infinity, '300', null])('rejects a tolerance of %p', (toleranceSeconds) => {
    const options = { toleranceSeconds: toleranceSeconds as number };
    expect(() => verifySignature(BODY, headersFor(BODY, SECRET), SECRET, options)).toThrow(
      new TypeError('toleranceSeconds must be a finite number of at least 0.'),
    );
  });

  it.each([[''], [[]], [['']], [undefined], [[SECRET, '']]])('throws without a secret: %p', (secret) => {
    expect(() => verifySignature(BODY, headersFor(BODY, SECRET), secret as string)).toThrow(TypeError);
  });
});
