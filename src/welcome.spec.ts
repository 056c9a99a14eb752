import { version } from './infrastructure/config/version';
import { explainEndFailure, explainStartFailure, welcome } from './welcome';

const URL_OF_SERVICE = 'http://127.0.0.1:3000';
const LISTENING = { url: URL_OF_SERVICE, consoleLink: null };
const SERVING = { role: 'all', docs: true } as const;
const TOKEN = `wns_${'a'.repeat(43)}`;

describe('The welcome', () => {
  it('lists the URLs on a later start', () => {
    const started = { config: SERVING, notes: ['Data is kept in .data.'], firstToken: null };
    expect(welcome(LISTENING, started).split('\n')).toEqual([
      '',
      `Webhook Notification Service ${version}`,
      '  API     http://127.0.0.1:3000/api',
      '  Docs    http://127.0.0.1:3000/docs',
      '  Health  http://127.0.0.1:3000/health/ready',
      '  Data is kept in .data.',
      '',
      '',
    ]);
  });

  it('contains the console link if there is one', () => {
    const started = { config: SERVING, notes: [], firstToken: null };
    const text = welcome({ url: URL_OF_SERVICE, consoleLink: '/console#code=x' }, started);
    expect(text).toContain('  Console http://127.0.0.1:3000/console#code=x\n');
  });

  it('lists only URLs that are served', () => {
    const textFor = (config: { role: 'worker' | 'api'; docs: boolean }) =>
      welcome(LISTENING, { config, notes: [], firstToken: null });
    expect(textFor({ role: 'worker', docs: true })).not.toMatch(/API|Docs/);
    expect(textFor({ role: 'api', docs: false })).toMatch(/API/);
    expect(textFor({ role: 'api', docs: false })).not.toMatch(/Docs/);
  });

  it('shows the token and a command that creates a webhook with it, on the first start', () => {
    const lines = welcome(LISTENING, { config: SERVING, notes: [], firstToken: TOKEN }).split('\n');
    expect(lines).toContain(`  ${TOKEN}`);
    const [, url, authorization, contentType, body] =
      /^ {2}curl -s (\S+) -H '([^']+)' -H '([^']+)' -d '([^']+)'$/.exec(lines.at(-3) ?? '') ?? [];
    expect(url).toBe(`${URL_OF_SERVICE}/api/webhooks`);
    expect(authorization).toBe(`authorization: Bearer ${TOKEN}`);
    expect(contentType).toBe('content-type: application/json');
    expect(JSON.parse(body ?? '')).toEqual({ url: 'http://localhost:4000/', events: ['*'] });
  });
});

describe('explainStartFailure', () => {
  const onPort = (code: string, port: number) =>
    Object.assign(new Error(`listen ${code}`), { code, port, address: '127.0.0.1' });

  it.each([
    [
      'a port in use',
      onPort('EADDRINUSE', 3000),
      'Port 3000 on 127.0.0.1 is in use by another program: stop it, or set PORT.',
    ],
    ['a port below 1024', onPort('EACCES', 80), 'Port 80 may not be opened by this user: set PORT above 1023.'],
    [
      'a file without permission',
      Object.assign(new Error("EACCES: permission denied, mkdir '.data'"), { code: 'EACCES' }),
      "EACCES: permission denied, mkdir '.data'",
    ],
    ['an error', new Error('The data folder is locked.'), 'The data folder is locked.'],
    ['an error without a message', new TypeError(), 'TypeError'],
    ['a thrown string', 'out of luck', 'out of luck'],
  ])('explains %s', (_, error, text) => {
    expect(explainStartFailure(error)).toBe(text);
  });

  it('omits the stack trace', () => {
    expect(explainStartFailure(new Error('One line.'))).not.toContain('\n');
  });

  it('contains the error code when all addresses of a name refuse the connection', () => {
    const refused = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:5432`));
    const error = Object.assign(new AggregateError(refused), { code: 'ECONNREFUSED' });
    expect(explainStartFailure(error)).toContain('ECONNREFUSED');
  });
});

it('explainEndFailure does not describe a failed stop as a failed start', () => {
  const error = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  expect(explainEndFailure(error)).toBe(
    'The service has stopped, but an error occurred at the end: ENOSPC: no space left on device, write',
  );
});
