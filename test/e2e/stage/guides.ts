import { readFileSync } from 'node:fs';

/** The code blocks in a language of a section of docs/deploying.md, in their order. */
export function blocksOf(section: string, language: string): string[] {
  const [, text = ''] = readFileSync('docs/deploying.md', 'utf8').split(`\n## ${section}\n`);
  const blocks = (text.split('\n## ')[0] ?? '').matchAll(/^( *)```(\w+)\n(.*?)^\1```$/gms);
  return [...blocks].flatMap(([, indent = '', found, text = '']) =>
    found === language ? [text.replaceAll(new RegExp(`^${indent}`, 'gm'), '')] : [],
  );
}
