import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { dirname, join } from 'node:path';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { type Api, dataOf } from '../../support/api';
import { programPath, skip } from '../../support/programs';
import { type ReceivedCall, useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { startCommand } from '../stage/library-command';
import { SVIX_TOKEN, useSvixServer } from '../stage/svix-server';

/** What a shop publishes to its former service, and its receivers read from the body. */
const PAYLOAD = {
  ...{ id: 'inv_1', data: { data: '","data":', cents: 4900 }, type: 'Invoice-Paid', createdAt: 'yesterday' },
  ...{
    name: 'Zoë 😀 \u2028 </script>',
    '10': 1,
    '9': 2,
    tiny: 1e-7,
    big: '18446744073709551615',
    list: [[], [{}], null],
  },
};
const SVIX_HEADERS = ['svix-id', 'svix-timestamp', 'svix-signature'];
const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/** A Python that has the libraries of Svix and Standard Webhooks. */
const PYTHON = [join(dirname(programPath('schemathesis') ?? '/x/x'), 'python3'), 'python3'].find(
  (python) => spawnSync(python, ['-c', 'import svix, standardwebhooks']).status === 0,
);
const IN_PYTHON = `
import json, sys
from svix.webhooks import Webhook as SvixWebhook
from standardwebhooks import Webhook as StandardWebhook
given = json.load(sys.stdin)
body, headers = given["body"].encode(), given["headers"]
SvixWebhook(given["secret"]).verify(body, {k: headers[k] for k in headers if k.startswith("svix-")})
standard = StandardWebhook(given["secret"]).verify(body, {k: headers[k] for k in headers if k.startswith("webhook-")})
assert standard == json.loads(body)
print(json.dumps(standard))
`;

describe('A receiver of another service, unchanged', () => {
  const service = useService({
    ...{ SIGNATURE_HEADERS: 'svix', HEADER_PREFIX: 'x-convoy', EXTRA_EVENT_TYPES: 'Invoice-Paid,invoice' },
  });
  const receiver = useReceiver();
  const svix = useSvixServer();
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  let api: Api;
  let call: ReceivedCall;

  const named = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(names.map((name) => [name, String(call.headers[name])]));

  beforeAll(async () => {
    const token = await service.createToken('shop', [
      'webhooks:read',
      'webhooks:write',
      'deliveries:read',
      'events:publish',
    ]);
    api = service.api.withToken(token);
    const hook = receiver.hook();
    svix.endpoints.set('ep_1', { id: 'ep_1', url: hook.url, secret, filterTypes: ['Invoice-Paid'] });
    const line = [
      'import',
      'svix',
      '--app',
      'shop',
      '--svix',
      svix.url,
      '--service',
      service.url,
      '--activate',
      '--yes',
    ];
    const run = await startCommand(line, { SVIX_TOKEN, WEBHOOKS_TOKEN: token }).ended();
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('created 1.') });
    await dataOf(api.publish({ event: 'invoice', data: {} }), 202);
    await dataOf(api.publish({ event: 'Invoice-Paid', data: PAYLOAD }), 202);
    [call] = (await hook.received(1)) as [ReceivedCall];
  });

  it('of Svix verifies with the library of npm, and reads its payload from the body', () => {
    expect(new SvixWebhook(secret).verify(call.body.toString(), named(SVIX_HEADERS))).toEqual(PAYLOAD);
    expect(call.body.toString()).toBe(JSON.stringify(PAYLOAD));
    expect(call.headers['content-type']).toBe('application/json');
  });

  it('of Standard Webhooks, as Hook0 and Outpost have them, verifies with the library of npm', () => {
    expect(new StandardWebhook(secret).verify(call.body.toString(), named(STANDARD_HEADERS))).toEqual(PAYLOAD);
  });

  // https://getconvoy.io/docs/product-manual/signatures: the hex HMAC-SHA256 of the payload in X-Convoy-Signature
  it('of Convoy verifies its simple signature', () => {
    const expected = createHmac('sha256', secret).update(call.body).digest();
    const given = Buffer.from(String(call.headers['x-convoy-signature']), 'hex');
    expect(timingSafeEqual(given, expected)).toBe(true);
    expect(
      createHmac('sha256', secret)
        .update(JSON.stringify(JSON.parse(call.body.toString())))
        .digest(),
    ).toEqual(expected);
  });

  const inPython = () => {
    it('in Python verifies with the libraries of Svix and Standard Webhooks', () => {
      const input = JSON.stringify({ secret, body: call.body.toString(), headers: call.headers });
      const payload = JSON.parse(execFileSync(PYTHON!, ['-c', IN_PYTHON], { input, encoding: 'utf8' })) as object;
      expect(payload).toEqual(PAYLOAD);
      expect(() =>
        execFileSync(PYTHON!, ['-c', IN_PYTHON], { input: input.replace('4900', '4901'), stdio: 'pipe' }),
      ).toThrow('WebhookVerificationError');
    });
  };
  if (PYTHON === undefined) skip('A receiver in Python', 'svix and standardwebhooks for Python', inPython);
  else inPython();
});
