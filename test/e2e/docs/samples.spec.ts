import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool, type QueryResultRow } from 'pg';
import { startEmbeddedPostgres } from '../../../packages/embedded-postgres/src/embedded-postgres';
import { dataOf } from '../../support/api';
import type { TestDatabase } from '../../support/postgres';
import { describeWhereInstalled } from '../../support/programs';
import { freePort, type Service, startService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { compile, isTypeScript, syntaxErrorOf } from '../stage/sample-code';
import { isForShell, SampleShell } from '../stage/sample-shell';
import { pagesWithSamples, placeOf, type Sample, samplesOf, untestedBecause, type Way } from '../stage/samples';

const ROOT = join(__dirname, '../../..');
const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
/** Of the programs that a page starts, and of the service. */
const PORTS = /(?:\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0):|\bPORT=|\.listen\()(\d{4,5})\b/g;
const PORTS_OF_STORES = ['5432', '6379'];

const PAGES = new Map(pagesWithSamples(ROOT).map((page) => [page, readFileSync(join(ROOT, page), 'utf8')]));

/** Pages of this test, which must be red. */
const BROKEN = {
  'fails.md': 'As it says:\n\n```sh\necho before\nfalse\necho after\n```\n',
  'http-error.md': '```sh\ncurl -s "$WEBHOOKS_URL/api/webhooks" | cat\n```\n',
  'unset.md': '```sh\necho "$NOT_SET"\n```\n',
  'unclosed.md': "```sh\necho 'no end\n```\n",
  'background.md': '<!-- sample: background -->\n\n```sh\nexit 3\n```\n\n```sh\nsleep 30\n```\n',
  'json.md': '```json\n{ "a": … }\n```\n',
  'types.md': `\`\`\`ts
// src/sources/typo.service.ts
import { EventsService } from '../events/events.service';

export const publish = (events: EventsService) => events.publish('operation.done', {}, { userId: null });
\`\`\`
`,
  'fragment.md': '<!-- sample: fragment -->\n\n```ts\nconst a = ;\n```\n',
  'machine.md': '```sh\n# Ends every container.\ndocker kill $(docker ps -q)\n```\n',
  'language.md': '```cobol\nDISPLAY "x".\n```\n',
  'quoted.md': '> ```sh\n> false\n> ```\n',
  'mark.md': '<!-- sample: perhaps -->\n\n```sh\ntrue\n```\n',
  'lost-mark.md': '<!-- sample: output -->\n\nA text.\n\n```sh\ntrue\n```\n',
  'unnamed.md': '<!-- sample: tested by test/e2e/docs/none.spec.ts -->\n\n```sh\ntrue\n```\n',
};

const WORKS = `
\`\`\`js
// server.cjs
const { createServer } = require('node:http');
createServer((request, response) => response.end('{"said":"hello"}')).listen(4000, () => console.log('It listens.'));
\`\`\`

<!-- sample: background -->

\`\`\`sh
node server.cjs
\`\`\`

1. A block in a list

   \`\`\`sh
   said=$(curl -s http://localhost:4000 | jq -r .said)
   \`\`\`

\`\`\`sql
create schema samples;
\`\`\`

\`\`\`sh
test "$said" = hello
psql "$DATABASE_URL" -c 'drop schema samples'
\`\`\`

\`\`\`text
It listens.
\`\`\`
`;

describe('The samples', () => {
  jest.setTimeout(600_000);
  const counts = new Map<Way | 'skipped', number>();
  let folder: string;
  let service: Service;
  let database: TestDatabase;
  let scopes: readonly string[];
  let typeErrors: Map<string, string[]>;

  // As `npm start` has it: with the embedded PostgreSQL, and test receivers. Names of other hosts lead nowhere.
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'wns-samples-'));
    chmodSync(folder, 0o755);
    const DATA_DIR = join(folder, 'data');
    const postgres = await startEmbeddedPostgres({ dataDir: DATA_DIR });
    const pool = new Pool({ connectionString: postgres.url, max: 1 });
    pool.on('error', () => undefined);
    database = {
      url: postgres.url,
      query: async <Row extends QueryResultRow>(sql: string, values: unknown[] = []) =>
        (await pool.query<Row>(sql, values)).rows,
      drop: () => pool.end().then(() => postgres.stop()),
    };
    const settings = { DATABASE_URL: undefined, DATA_DIR, SECRETS_KEY, DNS_SERVERS: '127.0.0.1:9' };
    service = await startService(settings, database);
    ({ scopes } = await dataOf(service.api.me()));
    const texts = [...PAGES, ...Object.entries({ 'types.md': BROKEN['types.md'] })];
    const ran = texts.flatMap(([page, text]) => samplesOfAny(page, text)).filter(({ way }) => way === 'run');
    typeErrors = compile(ran.filter(isTypeScript), ROOT);
  });
  afterAll(async () => {
    await service?.stop();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    const count = (way: Way | 'skipped') => counts.get(way) ?? 0;
    process.stderr.write(
      `\n${count('run') + count('background')} blocks ran, ${count('tested')} by tests of their own, ${count('output')} output, ` +
        `${count('elsewhere')} elsewhere, ${count('fragment')} fragments, ${count('skipped')} skipped\n`,
    );
  });

  /** Runs the blocks of a page in order, as a user of its own. */
  async function run(page: string, text: string, counted = new Map<Way | 'skipped', number>()): Promise<void> {
    const name = page.replaceAll(/\W+/g, '-');
    const place = join(folder, name);
    const samples = samplesOf(page, await withOwn(text, place));
    const shell = new SampleShell(place, {
      DATABASE_URL: database.url,
      SECRETS_KEY,
      WEBHOOKS_URL: service.url.replace('127.0.0.1', 'localhost'),
      WEBHOOKS_TOKEN: await service.createToken(name, scopes),
    });
    try {
      for (const sample of samples) {
        const way = await test(sample, shell);
        counted.set(way, (counted.get(way) ?? 0) + 1);
      }
    } finally {
      await shell.close();
      await forgetEventTypes();
    }
  }

  /** Tests one block in its way, and returns that. */
  async function test(sample: Sample, shell: SampleShell): Promise<Way | 'skipped'> {
    const refuse = (reason: string | null | undefined) => {
      if (reason != null) throw new Error(`${placeOf(sample)}: ${reason}\n\n${sample.code}`);
    };
    if (sample.way === 'tested') refuse(untestedBecause(sample, ROOT));
    if (sample.way === 'fragment') refuse(syntaxErrorOf(sample));
    if (sample.way !== 'run' && sample.way !== 'background') return sample.way;
    if (!isForShell(sample)) {
      if (!['ts', 'tsx', 'js', 'json', 'yaml'].includes(sample.language))
        refuse('nothing here runs this language: mark the block.');
      refuse(isTypeScript(sample) ? typeErrors.get(placeOf(sample))?.join('\n') : syntaxErrorOf(sample));
      shell.write(sample);
      return sample.way;
    }
    const lack = SampleShell.lacks(sample);
    if (lack !== null) {
      process.stderr.write(`\nSKIPPED: ${placeOf(sample)}, because ${lack}.\n`);
      return 'skipped';
    }
    await shell.run(sample);
    await arrived();
    return sample.way;
  }

  /** A reader types the next block after the deliveries of this one, which take no time that a reader notices. */
  async function arrived(): Promise<void> {
    const isPending = `exists (select from webhook_service.events where fanned_out_at is null) or exists (
      select from webhook_service.deliveries d join webhook_service.webhooks w on w.id = d.webhook_id
      where d.status = 'pending' and d.attempt = 1 and not d.parked and w.kind = 'push') as pending`;
    const areThere = async () => !(await database.query<{ pending: boolean }>(`select ${isPending}`))[0]!.pending;
    await waitFor(areThere, { what: 'the first attempts of all deliveries' });
  }

  /** Event types are of all users; each page declares its own. */
  async function forgetEventTypes(): Promise<void> {
    for (const { name, source, application } of await dataOf(service.api.eventTypes()))
      if (['api', 'module'].includes(source))
        await dataOf(service.api.deleteEventType(name, application === null ? {} : { application }));
  }

  /** The page with ports that are free, and its own folder for temporary files. */
  async function withOwn(text: string, place: string): Promise<string> {
    const named = new Set([...text.matchAll(PORTS)].map(([, port = '']) => port));
    let own = text.replaceAll(/(?<![\w.])\/tmp\//g, `${place}/tmp/`);
    for (const port of named) {
      if (PORTS_OF_STORES.includes(port)) continue;
      const now = port === '3000' ? new URL(service.url).port : String(await freePort());
      own = own.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), now);
    }
    return own;
  }

  it.each([...PAGES])('%s: its samples work in order', (page, text) => run(page, text, counts));

  describe('A page', () => {
    it.each([
      ['fails.md', /^fails\.md:3 \(sh\) failed with exit code 1[^]*echo after[^]*It printed:\nbefore\n$/],
      ['http-error.md', /http-error\.md:1 .*exit code 22[^]*unauthenticated/],
      ['unset.md', /NOT_SET: unbound variable/],
      ['unclosed.md', /unclosed\.md:1 .*failed/],
      ['background.md', /background\.md:3 \(sh\) ended with exit code 3/],
      ['json.md', /json\.md:1 \(json\): SyntaxError/],
      ['types.md', /types\.md:5: [^]*operation\.done/],
      ['fragment.md', /fragment\.md:3 \(ts\): SyntaxError/],
      ['machine.md', /machine\.md:1 \(sh\) would change this machine \(docker\)/],
      ['language.md', /language\.md:1 \(cobol\): nothing here runs this language/],
      ['quoted.md', /quoted\.md:1: a block in a quotation is not tested/],
      ['mark.md', /mark\.md:1: the mark "perhaps" is unknown/],
      ['lost-mark.md', /lost-mark\.md:1: the mark is above no block/],
      ['unnamed.md', /none\.spec\.ts does not exist/],
    ] as const)('is red: %s', async (page, message) => {
      await expect(run(page, BROKEN[page])).rejects.toThrow(message);
    });

    describeWhereInstalled('curl jq psql', 'that works', () => {
      it('keeps variables, files and what runs in the background', async () => {
        const counted = new Map<Way | 'skipped', number>();
        await run('works.md', WORKS, counted);
        expect(Object.fromEntries(counted)).toEqual({ background: 1, output: 1, run: 4 });
      });
    });
  });
});

/** Those of a page that cannot be read are in the test of the page. */
function samplesOfAny(page: string, text: string): Sample[] {
  try {
    return samplesOf(page, text);
  } catch {
    return [];
  }
}
