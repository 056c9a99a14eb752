import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, allPagesOf, dataOf } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { cryptoSignature, verifyStandardWebhook } from '../../support/signatures';
import { EXAMPLES } from '../stage/examples';
import { runCommandLine } from '../stage/library-command';
import { publish } from '../stage/steps';

describe('webhook-notification import csv', () => {
  const service = useService({ EXTRA_EVENT_TYPES: 'invoice.paid' });
  const receiver = useReceiver();
  let token: string;
  let api: Api;
  let folder: string;
  let users = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'import-csv-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  beforeEach(async () => {
    token = await service.createToken(`user-${(users += 1)}`, [
      'webhooks:read',
      'webhooks:write',
      'events:publish',
      'deliveries:read',
    ]);
    api = service.api.withToken(token);
  });

  async function run(csv: string | Buffer, ...args: string[]) {
    const file = join(folder, 'webhooks.csv');
    await writeFile(file, csv);
    const finished = await runCommandLine(['import', 'csv', file, '--service', service.url, ...args], {
      WEBHOOKS_TOKEN: token,
    });
    for (const each of [token, 'hidden-secret']) expect(finished.stdout + finished.stderr).not.toContain(each);
    return finished;
  }

  const webhooks = async () => (await allPagesOf(api.listWebhooks, { limit: 250 })).flat();

  it('imports, and changes nothing when repeated; activated webhooks sign with the secrets of the file', async () => {
    const [one, two] = [receiver.hook(), receiver.hook()];
    const csv = `externalId,url,events,secret,description,metadata.team,header.X-Api-Key,disabled
convoy:1,${one.url},follower.*,hidden-secret-1,"One, with a comma",billing,hidden-secret-of-a-header,
convoy:2,${two.url},follower.gained,hidden-secret-2,,,,true`;
    expect(await run(csv)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('would create 2.\nNothing has changed.'),
    });
    expect(await webhooks()).toEqual([]);

    expect(await run(csv, '--yes')).toMatchObject({ code: 0, stdout: expect.stringContaining('created 2.') });
    const imported = await webhooks();
    expect(imported.map(({ active }) => active)).toEqual([false, false]);
    expect(await dataOf(api.readExternalWebhook('convoy:1'))).toMatchObject({
      ...{ events: ['follower.*'], description: 'One, with a comma', metadata: { team: 'billing' } },
      headers: { 'X-Api-Key': '•••' },
    });
    expect(await run(csv, '--yes')).toMatchObject({ code: 0, stdout: 'unchanged 2.\n' });
    expect(await webhooks()).toEqual(imported);

    expect(await run(csv, '--yes', '--activate')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('activated 1'),
    });
    await publish(api, 'follower.gained');
    const [call] = await one.received(1);
    expect(call!.headers['x-service-signature']).toBe(cryptoSignature(call!.body, 'hidden-secret-1'));
    expect(verifyStandardWebhook(call!, 'hidden-secret-1')).toEqual(EXAMPLES['follower.gained']);
    expect(call!.headers['x-api-key']).toBe('hidden-secret-of-a-header');
    expect(two.calls).toEqual([]);
  });

  it('reports what it cannot import line by line, and imports the rest', async () => {
    const csv = `externalId,url,events,secret
a,https://a.example,*,
b,https://10.0.0.1,*,
c,https://c.example,*,short
not!,https://d.example,*,
e,https://e.example,no.such,
a,https://f.example,*,
g,https://g.example`;
    const { code, stdout } = await run(csv, '--yes');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^refused {2}b {2}https:\/\/10\.0\.0\.1 {2}url must not point/m);
    expect(stdout).toMatch(/^refused {2}c {2}https:\/\/c\.example {2}secret must be 8 to 256/m);
    expect(stdout).toMatch(/^refused {2}line 5 {2}externalId must/m);
    expect(stdout).toMatch(/^refused {2}e {2}https:\/\/e\.example {2}unknown event types: no\.such/m);
    expect(stdout).toMatch(/^refused {2}line 7 {2}an earlier line/m);
    expect(stdout).toMatch(/^refused {2}line 8 {2}it has 2 fields/m);
    expect(stdout).toMatch(/^created 1, refused 6\.$/m);
    expect((await webhooks()).map(({ externalId }) => externalId)).toEqual(['a']);
  });

  it('refuses the same without --yes, before anything is created', async () => {
    await dataOf(api.createWebhook({ kind: 'pull', externalId: 'pulled', events: ['follower.*'], active: false }), 201);
    const moved = { externalId: 'moved', url: 'https://old.example/', events: ['follower.*'], active: false };
    await dataOf(api.createWebhook({ ...moved, headers: { 'x-key': 'value' } }), 201);
    const before = await webhooks();
    const plain = `externalId,url,events,secret,maxPerSecond
address,https://10.0.0.1,*,,
scheme,ftp://a.example,*,,
user,https://user:hidden-secret@a.example,*,,
long,https://a.example/${'x'.repeat(2048)},*,,
short,https://a.example,*,1234567,
slow,https://a.example,*,,0.01
many,http://192.168.0.1,*,short,0.01
pulled,https://a.example,*,,
moved,https://new.example,*,,
good,https://a.example,*,a good secret,5`;
    const headers = `externalId,url,events,header.X-Forwarded-For,header.a b,header.X-A
proxy,https://a.example,*,hidden-secret,,
name,https://a.example,*,,hidden-secret,
value,https://a.example,*,,,hidden-secret ä
fine,https://a.example,*,,,value`;
    for (const [csv, refused] of [
      [plain, 9],
      [headers, 3],
    ] as const) {
      const dry = await run(csv);
      expect(await webhooks()).toEqual(before);
      const wet = await run(csv, '--yes');
      const refusals = ({ stdout }: { stdout: string }) =>
        stdout.split('\n').filter((line) => /^refused {2}/.test(line));
      expect(refusals(dry)).toEqual(refusals(wet));
      expect([dry.code, wet.code, refusals(dry).length]).toEqual([1, 1, refused]);
      expect(dry.stdout).toContain(`would create 1, refused ${refused}.`);
      for (const name of ['good', 'fine']) await api.deleteExternalWebhook(name);
    }
  });

  it('says without --yes that the token may not create webhooks', async () => {
    token = await service.createToken('reader', ['webhooks:read']);
    expect(await run('externalId,url,events\na,https://a.example,*')).toMatchObject({
      ...{ code: 1, stdout: '', stderr: expect.stringContaining('webhooks:write') },
    });
  });

  it.each<[string, string | Buffer, RegExp]>([
    ['bytes that are not UTF-8', Buffer.from([0x61, 0xff]), /not UTF-8/],
    ['a quote without an end', 'externalId,url,events\na,"hidden-secret', /^Line 2 is no CSV/],
    ['an unknown column', 'externalId,url,events,retries\n', /column retries/],
  ])('imports nothing of a file with %s', async (_, csv, message) => {
    expect(await run(csv, '--yes')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
  });

  it('says when there is no such file', async () => {
    const line = ['import', 'csv', join(folder, 'no-such.csv'), '--service', service.url];
    expect(await runCommandLine(line, { WEBHOOKS_TOKEN: token })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ENOENT'),
    });
  });
});
