import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { BUILT_IN_EVENTS, isReserved } from 'webhook-notification/catalogue';
import { ERROR_CODES as API_CODES } from '../../../src/infrastructure/errors/error-codes';
import { ERROR_STATUSES } from '../../support/error-codes';
import {
  ADVISED_STATUSES,
  ERROR_CODES,
  TIMEOUT_PHASES,
  EXPLAINED_TLS_FAULTS,
} from '../../../src/deliveries/rows/delivery-error';

const ROOT = join(__dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** First words of the commands of the `webhooks` program: what `src/commands` holds, and `start` and `help`. */
const WEBHOOKS_COMMANDS = readdirSync(join(ROOT, 'src/commands'))
  .flatMap((file) => /^([a-z]+).*\.command\.ts$/.exec(file)?.[1] ?? [])
  .concat('start', 'help');

/** The text under a heading, up to the next one of the same or a higher level. */
function section(markdown: string, heading: string): string {
  const level = heading.split(' ')[0]?.length;
  const [, rest] = `\n${markdown}`.split(`\n${heading}\n`);
  if (rest === undefined) throw new Error(`There is no heading "${heading}".`);
  return rest.split(new RegExp(`^#{1,${level}} `, 'm'))[0] ?? '';
}

/** The first cells of all tables, without their head rows. */
function firstCells(markdown: string): string[] {
  const rows = markdown.split('\n').filter((line) => line.startsWith('|'));
  const isRule = (row?: string): boolean => /^\|[ :|-]+$/.test(row ?? '');
  return rows
    .filter((row, i) => !isRule(row) && !isRule(rows[i + 1]))
    .map((row) => (row.split(/(?<!\\)\|/)[1] ?? '').trim().replaceAll('\\|', '|'));
}

const sorted = (names: readonly string[]): string[] => [...names].sort();

describe('The README', () => {
  const readme = read('README.md');

  it('has at most 150 lines', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });

  it('lists exactly the built-in events that can be published, in the order of the source', () => {
    const names = firstCells(section(readme, '## API and events')).map((cell) => cell.replaceAll('`', ''));
    expect(names).toEqual(BUILT_IN_EVENTS.filter((name) => !isReserved(name)));
  });
});

describe('Generated tables and .env.example', () => {
  it('are the output of scripts/reference-docs.cjs', () => {
    const check = () => execFileSync(process.execPath, [join(ROOT, 'scripts/reference-docs.cjs'), '--check']);
    expect(check).not.toThrow();
  });
});

describe('docs/api.md', () => {
  it('lists exactly the routes under /api', () => {
    const { paths } = JSON.parse(read('openapi.json')) as { paths: Record<string, object> };
    const routes = Object.entries(paths)
      .filter(([path]) => path.startsWith('/api/'))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
      .map((route) => route.replaceAll(/\{(\w+)\}/g, ':$1'));
    const named = firstCells(section(read('docs/api.md'), '## The routes')).map((cell) => cell.replaceAll('`', ''));
    expect(sorted(named)).toEqual(sorted(routes));
  });
});

describe('docs/errors.md', () => {
  const errors = read('docs/errors.md');

  it('explains every delivery error, and no others', () => {
    const table = section(errors, '## Deliveries').split('\n### ')[0] ?? '';
    const codes = firstCells(table).map((cell) => cell.replaceAll('`', ''));
    expect(sorted(codes)).toEqual(sorted(ERROR_CODES));
  });

  it('has all codes of the API, which have the same statuses for ever', () => {
    const table = section(errors, '## Answers of the API');
    expect(firstCells(table).map((cell) => cell.replaceAll('`', ''))).toEqual(Object.keys(ERROR_STATUSES));
    const statuses = Object.entries(API_CODES).map(([code, { status }]) => [code, status]);
    expect(Object.fromEntries(statuses)).toEqual(ERROR_STATUSES);
  });

  it('has only codes of the API that a test expects', () => {
    const specs = [...filesBelow('test'), ...filesBelow('src')].filter((path) => path.endsWith('.spec.ts'));
    const text = specs.map(read).join();
    const isExpected = (code: string) => text.includes(`'${code}'`) || text.includes(`"${code}"`);
    expect(Object.keys(ERROR_STATUSES).filter((code) => !isExpected(code))).toEqual([]);
  });

  it.each([
    ['### What a `timeout` waited for', TIMEOUT_PHASES],
    ['### What is wrong with TLS (`tls_invalid`)', EXPLAINED_TLS_FAULTS],
    ['### What an answer means (`http_status`)', ADVISED_STATUSES.map(String)],
  ])('has a row for each case in the code, and no others: %s', (heading, names) => {
    expect(sorted(firstCells(section(errors, heading)).map((cell) => cell.replaceAll('`', '')))).toEqual(sorted(names));
  });
});

describe('docs/decisions.md', () => {
  const decisions = read('docs/decisions.md').split(/^## /m).slice(1);

  it('numbers its sections without a gap', () => {
    const numbers = decisions.map((text) => parseInt(text, 10));
    expect(numbers.length).toBeGreaterThanOrEqual(12);
    expect(numbers).toEqual(decisions.map((_, i) => i + 1));
  });

  it('has a decision, its reasons and its consequences in each section', () => {
    const parts = ['**Decision.**', '**Why.**', '**What follows.**'];
    expect(decisions.filter((text) => !parts.every((part) => text.includes(part)))).toEqual([]);
  });
});

describe('docs/threat-model.md', () => {
  const rows = section(read('docs/threat-model.md'), '## What is defended')
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\| (can or cannot|-)/.test(line));
  const proofs = rows.map((row) => /`((?:src|test)\/[^`]+\.ts)`: "([^"]+)"/.exec(row)?.slice(1) ?? [row, '']);

  it('names a test in every row', () => {
    expect(proofs.length).toBeGreaterThan(20);
    expect(proofs.filter(([, title]) => title === '')).toEqual([]);
  });

  it.each(proofs)('names one existing test: %s, %s', (file, title) => {
    const [, start = '', isCut] = /^(.*?)(…?)$/.exec(title!) ?? [];
    const text = start.replaceAll(/[^\w\s]/g, String.raw`\$&`);
    // Prettier puts a long title on a line of its own.
    const titles = new RegExp(String.raw`(?:\(|title: |^\s*)(['"\`])${text}${isCut ? '' : String.raw`\1,`}`, 'gm');
    expect(read(file!).match(titles)).toHaveLength(1);
  });
});

describe('The documents', () => {
  const OTHERS = ['node_modules', 'dist', 'coverage', '.git', '.data'];
  const pages = readdirSync(ROOT, { withFileTypes: true })
    .filter(({ name }) => !OTHERS.includes(name))
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(entry.name) : [entry.name]))
    .filter((path) => path.endsWith('.md'));

  it.each(pages)('%s has no broken link', (page) => {
    expect(linksOf(page).filter((link) => !leadsSomewhere(link))).toEqual([]);
  });

  it.each(pages)('%s names only existing commands', (page) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const ofNpm = [...read(page).matchAll(/npm run ([a-z][a-z:]*)/g)].map(([, name]) => name ?? '');
    expect(ofNpm.filter((name) => !(name in scripts))).toEqual([]);
    const ofWebhooks = [...read(page).matchAll(/(?:`|npx )webhooks ([a-z]+)/g)].map(([, name]) => name ?? '');
    expect(ofWebhooks.filter((name) => !WEBHOOKS_COMMANDS.includes(name))).toEqual([]);
  });

  const inDocs = pages.filter((page) => dirname(page) === 'docs' && basename(page) !== 'README.md');
  it.each(inDocs)('%s is listed in docs/README.md', (page) => {
    expect(linksOf('docs/README.md').map(({ to }) => to)).toContain(page);
  });
});

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path));
}

interface Link {
  /** A path from the root of the repository. */
  to: string;
  /** The heading that it names, as a fragment; undefined: the whole page. */
  fragment: string | undefined;
}

/** Returns the relative links of a page, including links within the page. */
function linksOf(page: string): Link[] {
  return [...read(page).matchAll(/\]\(([^)#:\s]*)(?:#([^)\s]*))?\)/g)].map(([, path = '', fragment]) => ({
    to: path === '' ? page : join(dirname(page), path),
    fragment,
  }));
}

function leadsSomewhere({ to, fragment }: Link): boolean {
  if (!existsSync(join(ROOT, to))) return false;
  return fragment === undefined || !to.endsWith('.md') || fragmentsOf(to).includes(fragment);
}

/** The fragments of a page's headings, as GitHub makes them. */
function fragmentsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
