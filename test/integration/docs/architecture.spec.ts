import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const PAGE = read('docs/architecture.md');
const PICTURE = read('docs/images/architecture.svg');

// eslint-disable-next-line @typescript-eslint/no-require-imports -- a CommonJS file without types
const { forbidden } = require(join(ROOT, '.dependency-cruiser.cjs')) as { forbidden: { comment: string }[] };

/** What each folder of src may import according to the rules. */
const mayImport = forbidden.flatMap(({ comment }): [string, string[]][] => {
  const [, folder = '', others = ''] = /^([a-z/-]+) may import: (.*)\.$/.exec(comment) ?? [];
  return folder === '' || /^(packages|console\/src)\//.test(folder)
    ? []
    : [[folder, others.split(', ').filter((other) => !other.includes(' '))]];
});

/** The same for the folders in `parent`, by their names there; `shared` stands for the files directly in it. */
function rulesIn(parent: string): Record<string, string[]> {
  const depth = parent === '' ? 0 : 1;
  const isInside = (path: string) =>
    parent === '' ? !path.startsWith('infrastructure/') : `${path}/`.startsWith(`${parent}/`);
  const nameOf = (path: string) => path.split('/')[depth] ?? 'shared';
  const rules: Record<string, string[]> = {};
  for (const [folder, others] of mayImport.filter(([path]) => isInside(path))) {
    const name = nameOf(folder);
    const names = others.filter(isInside).map(nameOf);
    const merged = new Set([...(rules[name] ?? []), ...names].filter((other) => other !== name));
    rules[name] = [...merged].sort();
  }
  return rules;
}

/** The blocks of lines such as `errors ─▶ config` under "Who may import whom". */
const blocks = (PAGE.split('## Who may import whom')[1] ?? '')
  .split('```')
  .map((block) =>
    Object.fromEntries(
      [...block.matchAll(/^(\S+) +─▶ (.+)$/gm)].map(([, name = '', others = '']) => [
        name,
        others === 'nothing' ? [] : others.split(' ').sort(),
      ]),
    ),
  );

describe('docs/architecture.md', () => {
  it.each([
    ['src', '', 1],
    ['src/deliveries', 'deliveries', 3],
    ['src/infrastructure', 'infrastructure', 5],
  ])('lists the allowed imports of %s as in the rules', (_, parent, block) => {
    expect(blocks[block]).toEqual(rulesIn(parent));
  });

  it('names every folder of src', () => {
    const tree = (PAGE.split('```text\nsrc/\n')[1] ?? '').split('```')[0] ?? '';
    const names = mayImport.flatMap(([path]) => path.split('/'));
    expect(names.length).toBeGreaterThan(30);
    expect(names.filter((name) => !new RegExp(`(^|[ (])${name}([ /)\\n]|$)`, 'm').test(tree))).toEqual([]);
  });

  it('names only existing classes', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => read(join('src', path)))
      .join('\n');
    const named = `${PAGE}${PICTURE}`.match(/\b[A-Z]\w+(?:Service|Queue|Processor|Client|Repository)\b/g) ?? [];
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !sources.includes(`class ${name} `))).toEqual([]);
  });
});

describe('docs/images/architecture.svg', () => {
  it('is the output of scripts/architecture-picture.mjs', () => {
    const printed = execFileSync(process.execPath, [join(ROOT, 'scripts/architecture-picture.mjs')], {
      encoding: 'utf8',
    });
    expect(PICTURE).toBe(printed);
  });
});
