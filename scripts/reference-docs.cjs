// `npm run docs:write`: writes the table of docs/settings.md and .env.example from the schema of the settings, the table of
// codes in docs/errors.md, and the tables of docs/performance.md and docs/capacity.md from bench/figures.json. With `--check`
// it fails when the committed files differ.
const { readFileSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const prettier = require('prettier');
const figures = require('../bench/figures.json');
const { ERROR_CODES } = require('../dist/src/infrastructure/errors/error-codes.js');
const { schema, variableOf } = require('../dist/src/infrastructure/config/settings-schema.js');

const root = dirname(require.resolve('../package.json'));
const WIDTH = 116;
/** The text between the marks of a table, which contain its name in bench/figures.json. */
const FIGURES = /(?<=<!-- figures: (\w+) -->\n)[^]*?(?=<!-- end -->)/g;
const HEAD = `# Every setting with its default. Copy this file to .env and uncomment the settings that you want to change; environment
# variables override .env. Lists are comma-separated. Bounds and details: docs/settings.md.`;

const settings = Object.entries(schema.shape).map(([name, type]) => ({ variable: variableOf(name), ...type.meta() }));

const lineOf = (cells) => `| ${cells.join(' | ')} |\n`;
const tableOf = (columns, rows) => [columns, columns.map(() => '---'), ...rows].map(lineOf).join('');

function settingsTable() {
  const rows = settings.map(({ variable, shown = 'none', description }) => [`\`${variable}\``, shown, description]);
  return tableOf(['setting', 'default (bounds)', 'meaning'], rows);
}

function codesTable() {
  const rows = Object.entries(ERROR_CODES).map(([code, { status, meaning, remedy }]) => [
    `\`${code}\``,
    status,
    meaning,
    remedy,
  ]);
  return tableOf(['code', 'status', 'meaning', 'remedy'], rows);
}

/** A table of bench/figures.json, below its title and the conditions of the measurement. */
function figuresTable(_, name) {
  const { title, conditions, columns, rows } = figures[name];
  const cells = rows.map((row) => row.map((cell) => cell.toLocaleString('en')));
  return `\n**${title}.** ${conditions}\n\n${tableOf(columns, cells)}\n`;
}

/** Markdown as plain text, in comment lines. */
function commentOf(markdown) {
  const words = markdown
    .replaceAll('`', '')
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .split(' ');
  const lines = ['#'];
  for (const word of words) {
    if (`${lines.at(-1)} ${word}`.length > WIDTH) lines.push('#');
    lines[lines.length - 1] += ` ${word}`;
  }
  return `${lines.join('\n')}.`;
}

/** Returns a page with this text in each place of the pattern. */
async function pageWith(path, pattern, textOf) {
  const page = join(root, path);
  const text = readFileSync(page, 'utf8').replace(pattern, textOf);
  return { [page]: await prettier.format(text, { ...(await prettier.resolveConfig(page)), filepath: page }) };
}

async function files() {
  const example = settings.map(({ variable, shown = 'none', example = '', description }) => {
    // A default that the line below does not show, such as one that depends on other settings.
    const isShown = (shown === 'none' && example === '') || shown.replaceAll('`', '').split(' (')[0] === example;
    return `${commentOf(isShown ? description : `${description}. Default: ${shown}`)}\n#${variable}=${example}`;
  });
  return {
    ...(await pageWith('docs/settings.md', /\| setting .*\n(\|.*\n)*/, settingsTable)),
    ...(await pageWith('docs/errors.md', /\| code +\| status .*\n(\|.*\n)*/, codesTable)),
    ...(await pageWith('docs/performance.md', FIGURES, figuresTable)),
    ...(await pageWith('docs/capacity.md', FIGURES, figuresTable)),
    [join(root, '.env.example')]: `${[HEAD, ...example].join('\n\n')}\n`,
  };
}

async function main() {
  const isCheck = process.argv.includes('--check');
  for (const [path, content] of Object.entries(await files())) {
    if (!isCheck) writeFileSync(path, content);
    else if (readFileSync(path, 'utf8') !== content)
      throw new Error(`${path} does not match the code: run \`npm run docs:write\` and commit it.`);
  }
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
