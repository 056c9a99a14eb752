import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';

/** How a code block of a page is tested; each block has exactly one way. */
export const WAYS = ['run', 'background', 'tested', 'output', 'elsewhere', 'fragment'] as const;
export type Way = (typeof WAYS)[number];

export interface Sample {
  /** Path from the root of the repository. */
  page: string;
  /** Line of its fence, from 1. */
  line: number;
  language: string;
  code: string;
  way: Way;
  /** The spec that tests the block, or what it needs. */
  detail: string;
  /** The file that its first line names, such as `// src/main.ts`. */
  file: string | undefined;
}

/** What may stand in `<!-- sample: … -->` on the line above a block. */
const MARKS: readonly (readonly [Way, RegExp])[] = [
  ['background', /^background$/],
  ['tested', /^tested by (test\/\S+\.spec\.ts)$/],
  ['output', /^output$/],
  ['elsewhere', /^elsewhere, needs (.+)$/],
  ['fragment', /^fragment(?:, .+)?$/],
];
const MARK = /^\s*<!--\s*sample\b(.*)-->\s*$/;
const FENCE = /^( *)(`{3,}|~{3,})(\w*)(.*)$/;
const FILE = /^(?:\/\/|#) ([\w@][\w@./-]*\.\w+)$/;

export const placeOf = ({ page, line, language }: Sample): string => `${page}:${line} (${language || 'no language'})`;

/** The pages of the repository with code blocks. */
export function pagesWithSamples(root: string): string[] {
  const OTHERS = ['node_modules', 'dist', 'coverage', '.git', '.data'];
  const pagesIn = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true })
      .filter(({ name }) => !OTHERS.includes(name))
      .flatMap((entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return pagesIn(path);
        return path.endsWith('.md') && /^[\s>]*(```|~~~)/m.test(readFileSync(join(root, path), 'utf8')) ? [path] : [];
      });
  return pagesIn('').sort();
}

/**
 * The code blocks of a page, in order.
 * @throws Error with page and line when a mark is unknown or above no block, a fence is not closed, or it
 * is in a quotation
 */
export function samplesOf(page: string, text: string): Sample[] {
  const lines = text.split('\n');
  const samples: Sample[] = [];
  let mark: { text: string; at: number } | undefined;
  for (let i = 0; i < lines.length; i++) {
    const found = MARK.exec(lines[i]!)?.[1];
    const fence = FENCE.exec(lines[i]!);
    // Prettier puts an empty line between a mark and its block.
    if (mark && !fence && lines[i]!.trim() !== '') throw new Error(`${page}:${mark.at}: the mark is above no block.`);
    if (found !== undefined) mark = { text: found.trim(), at: i + 1 };
    if (/^\s*>\s*(```|~~~)/.test(lines[i]!)) throw new Error(`${page}:${i + 1}: a block in a quotation is not tested.`);
    if (!fence) continue;
    const [, indent = '', ticks = '', language = ''] = fence;
    const end = lines.findIndex((line, at) => at > i && line.trim() === ticks);
    if (end < 0) throw new Error(`${page}:${i + 1}: the block is not closed.`);
    const body = lines.slice(i + 1, end).map((line) => line.replace(new RegExp(`^ {0,${indent.length}}`), ''));
    const way = wayOf(language, mark?.text.replace(/^: /, ''), `${page}:${mark?.at}`);
    samples.push({
      ...{ page, line: i + 1, language, code: `${body.join('\n')}\n` },
      ...{ ...way, file: FILE.exec(body[0] ?? '')?.[1] },
    });
    mark = undefined;
    i = end;
  }
  if (mark) throw new Error(`${page}:${mark.at}: the mark is above no block.`);
  return samples;
}

function wayOf(language: string, mark: string | undefined, place: string): Pick<Sample, 'way' | 'detail'> {
  if (mark === undefined) return { way: language === 'text' ? 'output' : 'run', detail: '' };
  for (const [way, pattern] of MARKS) {
    const match = pattern.exec(mark);
    if (match) return { way, detail: match[1] ?? '' };
  }
  throw new Error(`${place}: the mark "${mark}" is unknown.`);
}

/** Returns why a block is not tested by the spec that its mark names; null when it is. */
export function untestedBecause({ page, detail: spec }: Sample, root: string): string | null {
  if (!existsSync(join(root, spec))) return `${spec} does not exist`;
  const text = readFileSync(join(root, spec), 'utf8');
  // The page may be read by a helper of the spec.
  const imported = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, path = '']) => resolve(root, dirname(spec), path));
  const helpers = imported.map((path) => `${path}.ts`).filter((path) => existsSync(path));
  return [text, ...helpers.map((path) => readFileSync(path, 'utf8'))].some((code) => code.includes(page))
    ? null
    : `${spec} does not name ${page}`;
}

/** Where the block's file is in the folder of its page. */
export function pathOf({ file, line, language }: Sample): string {
  const path = normalize(file ?? `line-${line}.${language}`);
  if (path.startsWith('..')) throw new Error(`${file} is outside the folder of the page.`);
  return path;
}
