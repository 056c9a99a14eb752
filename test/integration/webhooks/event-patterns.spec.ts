import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { patternsOf, patternsSql } from '../../../src/webhooks/event-pattern';
import { cloneDatabase } from '../../support/postgres';

const ROOT = join(__dirname, '../../..');

/** Which patterns cover an event name, and which do not. The service, its SQL, the console and the importers agree on it. */
const TABLE: readonly [name: string, covered: string[], others: string[]][] = [
  [
    'job.started',
    ['*', 'job.*', 'job.started'],
    ['job.start', 'job', 'jobs.*', 'started.*', 'job.started.*', '.*', 'j*'],
  ],
  ['shop.order.paid', ['*', 'shop.*', 'shop.order.*', 'shop.order.paid'], ['order.*', 'shop.paid', 'shop.order']],
  ['a.b.c.d', ['*', 'a.*', 'a.b.*', 'a.b.c.*', 'a.b.c.d'], ['a.b', 'b.*', 'A.*', 'a.b.c.d.*']],
  ['job_x.done', ['*', 'job_x.*', 'job_x.done'], ['job.*', 'jobsx.*', 'job%.*']],
  ['webhook.disabled', ['*', 'webhook.*', 'webhook.disabled'], ['webhook.failing']],
  // `*` does not cover notices about webhooks.
  ['webhook.failing', ['webhook.*', 'webhook.failing'], ['*']],
  ['webhook.healthy', ['webhook.*', 'webhook.healthy'], ['*']],
];

/** Returns an exported function of a file that the tests otherwise see from outside only. */
function exported<Exported>(folder: string, file: string, name: string): Exported {
  const path = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).find(
    (each) => each.replaceAll('\\', '/').endsWith(file) && !/(node_modules|dist)/.test(each),
  );
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- the path is found, not known
  return (require(join(ROOT, folder, path ?? file)) as Record<string, Exported>)[name]!;
}

const covers = exported<(pattern: string, name: string) => boolean>('console/src', 'parts/event-names.ts', 'covers');
const subscribable = exported<(names: string[]) => Set<string>>('packages', 'import/event-names.ts', 'subscribable');

describe.each(TABLE)('The event %s', (name, covered, others) => {
  const patterns = [...covered, ...others];
  const coveredBy = (isCovered: (pattern: string) => boolean) => patterns.filter(isCovered);

  it('is covered by the same patterns in the service, the console and the importers', () => {
    expect(coveredBy((pattern) => patternsOf(name).includes(pattern))).toEqual(covered);
    expect(coveredBy((pattern) => covers(pattern, name))).toEqual(covered);
    // A webhook may always subscribe to `*`.
    const known = subscribable([name]);
    expect(coveredBy((pattern) => known.has(pattern)).filter((pattern) => pattern !== '*')).toEqual(
      covered.filter((pattern) => pattern !== '*'),
    );
  });
});

it('SQL computes the patterns of an event as the service does', async () => {
  const database = await cloneDatabase();
  const names = TABLE.map(([name]) => name);
  const rows = await database.query<{ patterns: string[] }>(
    `select ${patternsSql('name')} as patterns from unnest($1::text[]) with ordinality as n (name, i) order by i`,
    [names],
  );
  await database.drop();
  expect(rows.map(({ patterns }) => [...patterns].sort())).toEqual(names.map((name) => patternsOf(name).sort()));
  expect(rows.map(({ patterns }) => [...patterns].sort())).toEqual(TABLE.map(([, covered]) => [...covered].sort()));
});
