import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

const SRC = join(__dirname, '../..');
const OWN = join('deliveries', 'rows') + sep;

/** SQL and calls of TypeORM that insert, change or delete a row of deliveries. */
const CHANGES = [
  /\b(update|insert into|delete from|merge into|copy)\s+(only\s+)?webhook_service\.deliveries\b/i,
  /\b(update|insert into|delete from)\s+webhook_service\.\$\{table\}[^;]*?'deliveries'/i,
  /\b(insert|save|update|upsert|delete|remove)\(\s*Delivery\b/,
  /\bthis\.deliveries\.(insert|save|update|upsert|delete|remove)\(/,
  /\bset\s+status\s*=\s*'canceled'/i,
];

const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !/[.](spec|migration)[.]ts$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(SRC, path), 'utf8') }));
const changing = sources.filter(({ text }) => CHANGES.some((change) => change.test(text))).map(({ path }) => path);

it('Only deliveries/rows inserts, changes, cancels or deletes the row of a delivery', () => {
  expect(changing.filter((path) => !path.startsWith(OWN))).toEqual([]);
  expect(changing.map((path) => path.replace(OWN, '')).sort()).toEqual([
    'claims.repository.ts',
    'found-by-id.ts',
    'outcomes.repository.ts',
    'waiting-rows.repository.ts',
  ]);
});
