import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataOf, pageOf } from '../../support/api';
import { type ReceivedCall, useReceiver } from '../../support/receiver';
import { serviceFile, WEBHOOKS, useServiceProcess } from '../../support/service';
import { describeWhereInstalled } from '../../support/programs';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

const SECRET = 'correct horse battery staple é';
const VERIFYING = readFileSync(join(__dirname, '../../../docs/verifying.md'), 'utf8');

/** How each language's block is run: it is saved as a file, beside a program that asks it. */
const LANGUAGES = [
  {
    title: 'Node.js',
    heading: '### Node.js',
    command: 'node',
    file: 'verifier.mjs',
    program: [
      'main.mjs',
      `import { readFileSync } from 'node:fs';
       import { isGenuine } from './verifier.mjs';
       const headers = JSON.parse(readFileSync('headers.json'));
       console.log(isGenuine(readFileSync('body'), headers, process.argv[2]));`,
    ],
    run: ['node', 'main.mjs'],
  },
  {
    title: 'Python',
    heading: '### Python',
    command: 'python3',
    file: 'verifier.py',
    program: [
      'main.py',
      `import json, sys
from verifier import is_genuine
genuine = is_genuine(open('body', 'rb').read(), json.load(open('headers.json')), sys.argv[1])
print('true' if genuine else 'false')`,
    ],
    run: ['python3', 'main.py'],
  },
  {
    title: 'Go',
    heading: '### Go',
    command: 'go',
    file: 'verifier.go',
    program: [
      'main.go',
      `package main
import ("encoding/json"; "fmt"; "os")
func main() {
	body, _ := os.ReadFile("body")
	text, _ := os.ReadFile("headers.json")
	var values map[string]string
	json.Unmarshal(text, &values)
	header := func(name string) string { return values[name] }
	fmt.Println(IsGenuine(body, header, os.Args[1]))
}`,
    ],
    run: ['go', 'run', 'main.go', 'verifier.go'],
  },
  {
    title: 'PHP',
    heading: '### PHP',
    command: 'php',
    file: 'verifier.php',
    program: [
      'main.php',
      `<?php
       require 'verifier.php';
       $headers = json_decode(file_get_contents('headers.json'), true);
       echo isGenuine(file_get_contents('body'), $headers, $argv[1]) ? 'true' : 'false';`,
    ],
    run: ['php', 'main.php'],
  },
] as const;

const blockUnder = (heading: string) =>
  /```\w+\n([\s\S]*?)\n```/.exec(VERIFYING.split(`${heading}\n`)[1] ?? '')?.[1] ?? `nothing under ${heading}`;

describe('A real delivery', () => {
  const service = useServiceProcess();
  const receiver = useReceiver();
  let call: ReceivedCall;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'wns-verifying-'));
    const hook = receiver.hook();
    await subscribe(service.api, hook, ['follower.gained'], { secret: SECRET });
    await publish(service.api, 'follower.gained');
    [call] = (await hook.received(1)) as [ReceivedCall];
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const changed = () => Buffer.from(call.body.toString().replace('ada', 'adb'));

  describe.each(LANGUAGES)('and the verifier of docs/verifying.md', (language) => {
    describeWhereInstalled(language.command, `for ${language.title}`, () => {
      function verify(body: Buffer, headers: Record<string, unknown>, secret = SECRET): string {
        writeFileSync(join(folder, language.file), blockUnder(language.heading));
        writeFileSync(join(folder, language.program[0]), language.program[1]);
        writeFileSync(join(folder, 'body'), body);
        writeFileSync(join(folder, 'headers.json'), JSON.stringify(headers));
        const [command, ...args] = language.run;
        return execFileSync(command, [...args, secret], { cwd: folder, encoding: 'utf8' }).trim();
      }

      it('accepts it', () => {
        expect(verify(call.body, call.headers)).toBe('true');
      });

      it('accepts it by the signature with the secret before', () => {
        const { 'x-service-signature': signature, ...headers } = call.headers;
        const rotated = { 'x-service-signature': 'f'.repeat(64), 'x-service-signature-previous': signature };
        expect(verify(call.body, { ...headers, ...rotated })).toBe('true');
      });

      it('refuses it with one byte changed, with another secret, without a signature and with a cut one', () => {
        expect(verify(changed(), call.headers)).toBe('false');
        expect(verify(call.body, call.headers, 'another secret')).toBe('false');
        const { 'x-service-signature': signature = '', ...headers } = call.headers;
        expect(verify(call.body, headers)).toBe('false');
        expect(verify(call.body, { ...headers, 'x-service-signature': String(signature).slice(0, 62) })).toBe('false');
      });
    });
  });

  describe('and webhooks verify', () => {
    function verify(input: string | Buffer, args: string[] = [], secret: string | undefined = SECRET) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [serviceFile(WEBHOOKS), 'verify', ...args], {
        input,
        encoding: 'utf8',
        env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret },
      });
      return { status, said: `${stdout}${stderr}` };
    }
    const raw = (body = call.body) => {
      const lines = Object.entries(call.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
      return Buffer.concat([Buffer.from(`POST /hook HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
    };

    it('finds the raw request genuine', () => {
      expect(verify(raw())).toEqual({ status: 0, said: expect.stringMatching(/^Genuine\.\n/) });
    });

    it('reads headers, body and secret from files too', () => {
      const path = (name: string) => join(folder, name);
      writeFileSync(path('headers.json'), JSON.stringify(call.headers));
      writeFileSync(path('body'), call.body);
      writeFileSync(path('secret'), `${SECRET}\n`);
      const args = ['--headers', path('headers.json'), '--body', path('body'), '--secret-file', path('secret')];
      expect(verify('', args, '')).toMatchObject({ status: 0 });
    });

    it('reads the single read of the delivery', async () => {
      const { rows } = await pageOf(service.api.listWebhooks());
      const webhook = rows[0]!;
      const [delivery] = await settledDeliveries(service.api, webhook, { id: String(call.headers['webhook-id']) });
      const detail = await dataOf(service.api.readDelivery(webhook.id, delivery!.id));
      expect(verify(JSON.stringify({ success: true, data: detail }, null, 2))).toMatchObject({ status: 0 });
    });

    it('says why another is not', () => {
      const pretty = Buffer.from(JSON.stringify(JSON.parse(call.body.toString()), null, 2));
      expect(verify(raw(pretty))).toEqual({ status: 1, said: expect.stringContaining('pretty-printed with 2 spaces') });
      expect(verify(raw(), [], 'another')).toEqual({
        status: 1,
        said: expect.stringContaining('secret is most likely'),
      });
      expect(verify(raw(), ['--computed', 'x'])).toMatchObject({ status: 0 });
    });

    it('ends with 2 where it does not understand', () => {
      expect(verify('no request')).toEqual({ status: 2, said: expect.stringContaining('no empty line') });
      expect(verify(raw(), [], '')).toEqual({ status: 2, said: expect.stringContaining('WEBHOOK_SECRET') });
      expect(verify(raw(), ['--tolerance', 'x'])).toEqual({ status: 2, said: expect.stringContaining('--tolerance') });
    });
  });
});
