import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ordinaryPostgresBin } from '../../../scripts/ordinary-postgres.cjs';
import { serviceFile, type Settings, WEBHOOKS } from '../../support/service';

/** The first command that fails ends a block. The program is that of the build. */
const PRELUDE = 'set -euo pipefail\nnpx() { node "$PROGRAM" "${@:2}"; }';

interface Block {
  section: string;
  kind: 'sql' | 'sh';
  code: string;
}

/** The blocks of a page in their order. Those before the first heading belong to the section ''. */
function blocksOf(page: string): Block[] {
  const sections = `\n${readFileSync(resolve(page), 'utf8')}`.split(/^#{2,3} /m);
  return sections.flatMap((text, i) => {
    const section = i === 0 ? '' : (text.split('\n', 1)[0] ?? '');
    const found = text.matchAll(/^( *)```(sql|sh)\n([^]*?)^ *```$/gm);
    return [...found].map(([, indent = '', kind, code = '']) => ({
      section,
      kind: kind as Block['kind'],
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }));
  });
}

/** An operator at a terminal with psql, who follows a page and types its blocks. */
export class Operator {
  private readonly left: Block[];
  /** The variables that blocks have set. */
  private readonly variables: Settings = {};

  /**
   * @param page path of the page from the root of the repository
   * @param folder where they are, and leave their files
   * @param settings the service's own, and the variables that the page names
   */
  constructor(
    page: string,
    private readonly folder: string,
    private readonly settings: Settings,
  ) {
    this.left = blocksOf(page);
  }

  /** Sections with a block that has not been typed. */
  get untouched(): string[] {
    return [...new Set(this.left.map(({ section }) => section))];
  }

  /**
   * Types the next block of a section, which is SQL, with values of their own in place of the examples. Returns the rows that it
   * prints; rejects when it fails.
   */
  async rows(
    section: string,
    own: Record<string, string> = {},
    more: Settings = {},
  ): Promise<Record<string, string>[]> {
    const printed = await this.type('sql', this.next(section, 'sql'), own, more);
    const [header = [], ...rows] = printed
      .trim()
      .split('\n')
      .map((line) => line.split('\t'));
    return rows.map((row) => Object.fromEntries(row.map((cell, i) => [header[i], cell])));
  }

  /** The same for commands, whose output is a text. The variables that they set stay set for later blocks. */
  text(section: string, own: Record<string, string> = {}): Promise<string> {
    return this.type('sh', this.next(section, 'sh'), own);
  }

  /** Like `text`, for a block that is typed again and again, with other values. */
  command(section: string): (own?: Record<string, string>, more?: Settings) => Promise<string> {
    const block = this.next(section, 'sh');
    return (own = {}, more = {}) => this.type('sh', block, own, more);
  }

  private next(section: string, kind: Block['kind']): Block {
    const index = this.left.findIndex((block) => block.section === section);
    const [block] = index < 0 ? [] : this.left.splice(index, 1);
    if (block?.kind !== kind) throw new Error(`The next block of "${section}" is no ${kind}.`);
    return block;
  }

  private async type(
    kind: Block['kind'],
    block: Block,
    own: Record<string, string>,
    more: Settings = {},
  ): Promise<string> {
    const code = Object.entries(own).reduce((text, [example, value]) => text.replaceAll(example, value), block.code);
    const env = {
      ...this.settings,
      ...this.variables,
      ...more,
      PATH: `${ordinaryPostgresBin()}${delimiter}${process.env.PATH}`,
      PROGRAM: resolve(serviceFile(WEBHOOKS)),
    };
    const ofPsql = `-qXAF$'\\t' -P pager=off -P footer=off -v ON_ERROR_STOP=1`;
    const script = kind === 'sql' ? `psql "$DATABASE_URL" ${ofPsql} <<'END'\n${code}END\n` : code;
    const names = [...code.matchAll(/^([A-Z_]+)=(?:\S*|\$\(.*\))$/gm)].map(([, name = '']) => name);
    const keep = names.map((name) => `printf '%s' "$${name}" >${name}.variable`).join('\n');
    const args = ['-c', `${PRELUDE}\n${script}\n${keep}`];
    const { stdout } = await promisify(execFile)('bash', args, { cwd: this.folder, env });
    for (const name of names) this.variables[name] = readFileSync(join(this.folder, `${name}.variable`), 'utf8');
    return stdout;
  }
}
