import { type Api, dataOf, type DeliveryDetail } from '../../../support/api';
import { type Answer, type Hook, useReceiver } from '../../../support/receiver';
import { freePort, useService } from '../../../support/service';
import { deleteWebhooks, publish, settledDeliveries, subscribe } from '../../stage/steps';

/** The one attempt of one event to that address. */
async function oneAttempt(api: Api, hook: Pick<Hook, 'url'>): Promise<DeliveryDetail> {
  const webhook = await subscribe(api, hook, ['job.started']);
  const event = await publish(api, 'job.started');
  const rows = await settledDeliveries(api, webhook, event);
  expect(rows).toHaveLength(1);
  return dataOf(api.readDelivery(webhook.id, rows[0]!.id));
}

const failure = (code: string, responseStatus: number | null) => ({
  status: 'failed',
  responseStatus,
  error: { code, message: expect.any(String) },
  nextAttemptAt: null,
  response: responseStatus === null ? null : expect.anything(),
});

describe('An attempt', () => {
  const service = useService({ MAX_RETRIES: '0' });
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  const attemptAt = (hook: Pick<Hook, 'url'>) => oneAttempt(service.api, hook);

  it.each([200, 201, 202, 204, 299])('succeeds with %i', async (status) => {
    const record = await attemptAt(receiver.hook({ status }));
    expect(record).toMatchObject({ status: 'succeeded', responseStatus: status, error: null });
    expect(record.response).toMatchObject({ body: '', bodyTruncated: false });
  });

  it.each([400, 401, 404, 429, 500, 503, 999])('fails with %i as http_status', async (status) => {
    const record = await attemptAt(receiver.hook({ status, body: 'no' }));
    expect(record).toMatchObject(failure('http_status', status));
    expect(record.response).toMatchObject({ body: 'no' });
  });

  it.each([301, 302, 303, 307, 308])('fails with %i as redirect and follows it nowhere', async (status) => {
    const target = receiver.hook();
    const record = await attemptAt(receiver.hook({ status, headers: { location: target.url } }));
    expect(record).toMatchObject(failure('redirect', status));
    expect(record.response?.headers).toMatchObject({ location: target.url });
    expect(target.calls).toHaveLength(0);
  });

  it('fails as connection_refused at a closed port, without revealing the resolved address', async () => {
    const record = await attemptAt({ url: `http://localhost:${await freePort()}/hook` });
    expect(record).toMatchObject(failure('connection_refused', null));
    expect(record.error?.message).not.toMatch(/127\.0\.0\.1|::1/);
  });

  it('fails as connection_reset when the receiver hangs up', async () => {
    expect(await attemptAt(receiver.hook({ drop: true }))).toMatchObject(failure('connection_reset', null));
  });

  const BODIES: [string, Answer['body'], string, boolean][] = [
    ['bytes that are not UTF-8', Buffer.from([0x68, 0x69, 0xff, 0x21]), 'hi\ufffd!', false],
    ['markup and escape sequences', '<script>\u001b[31m', '<script>\u001b[31m', false],
    ['4096 bytes', 'x'.repeat(4096), 'x'.repeat(4096), false],
    ['more than is kept', 'x'.repeat(4097), 'x'.repeat(4096), true],
  ];

  it.each(BODIES)('succeeds and keeps a response body of %s', async (_, body, shown, bodyTruncated) => {
    const record = await attemptAt(receiver.hook({ body }));
    expect(record).toMatchObject({ status: 'succeeded', response: { body: shown, bodyTruncated } });
  });

  it('succeeds and stays readable with a response body that has a NUL in it', async () => {
    const record = await attemptAt(receiver.hook({ body: 'a\u0000b' }));
    expect(record).toMatchObject({ status: 'succeeded', response: { body: expect.stringMatching(/^a.b$/su) } });
  });

  it('never decompresses what it is answered', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const record = await attemptAt(receiver.hook({ headers, body: 'not gzip at all' }));
    expect(record).toMatchObject({ status: 'succeeded', response: { body: 'not gzip at all' } });
  });
});

// A deadline so short that a busy machine may miss it has a service of its own.
describe('An attempt with a deadline of 600 ms', () => {
  const service = useService({ MAX_RETRIES: '0', DELIVERY_TIMEOUT_MS: '600' });
  const receiver = useReceiver();

  it('fails as timeout when the receiver does not answer within it', async () => {
    let release: () => void = () => undefined;
    const hook = receiver.hook({ after: new Promise<void>((resolve) => (release = resolve)) });
    const record = await oneAttempt(service.api, hook);
    release();
    expect(record).toMatchObject(failure('timeout', null));
    expect(record.durationMs).toBeGreaterThanOrEqual(590);
  });
});
