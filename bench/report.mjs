// The table at the end, and the results as a file.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { median } from './statistics.mjs';

export const RESULTS_FILE = 'bench-results.json';

export const machine = () => ({
  cpu: cpus()[0]?.model,
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  loadAverage: loadavg()[0] ?? NaN,
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
});

/** Returns one row for each value of each figure: medians of the measurement and of its limit, and their ratio. */
export function summarise({ title, unit, units, rounds }) {
  const names = new Set(rounds.flatMap(({ measured }) => Object.keys(measured)));
  const isValid = rounds.every(({ problems }) => problems.length === 0);
  return [...(names.size > 0 ? names : ['value'])].map((name) => {
    const complete = rounds.filter(({ measured, limit }) => name in measured && name in limit);
    const ratios = complete.map(({ measured, limit }) => measured[name] / limit[name]);
    return {
      title: name === 'value' ? title : `${title}, ${name}`,
      unit: units[name] ?? unit,
      isValid,
      measured: median(complete.map(({ measured }) => measured[name])),
      limit: median(complete.map(({ limit }) => limit[name])),
      ratio: { median: median(ratios), lowest: Math.min(...ratios), highest: Math.max(...ratios) },
    };
  });
}

export function printTable(rows) {
  const lines = [
    ['figure', 'unit', 'measured', 'limit', 'ratio', 'spread of the ratio'],
    ...rows.map(({ title, unit, isValid, measured, limit, ratio }) =>
      isValid
        ? [
            title,
            unit,
            short(measured),
            short(limit),
            short(ratio.median),
            `${short(ratio.lowest)} to ${short(ratio.highest)}`,
          ]
        : [title, unit, 'INVALID', '', '', ''],
    ),
  ];
  print(lines, (column) => column > 1 && column < 5);
}

/**
 * Prints how each figure has changed since other results: as measured, and relative to its limit, which cancels out the
 * machine.
 */
export function printChanges(rows, { measuredAt, rows: before }) {
  const known = new Map(before.map((row) => [row.title, row]));
  const percent = (now, then) =>
    now / then > 0 ? `${now < then ? '' : '+'}${Math.round((now / then - 1) * 100)} %` : '-';
  const changes = rows.flatMap((row) => {
    const then = known.get(row.title);
    if (!then?.isValid || !row.isValid) return [];
    const { measured, ratio } = row;
    return [
      [
        row.title,
        short(then.measured),
        short(measured),
        percent(measured, then.measured),
        percent(ratio.median, then.ratio.median),
      ],
    ];
  });
  process.stdout.write('\n');
  print([[`change since ${measuredAt}`, 'then', 'now', 'measured', 'ratio'], ...changes], (column) => column > 0);
}

/** Reads results that `writeResults` has written; undefined without a file. */
export function readResults(file) {
  return file ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function print(lines, isNumber) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  for (const line of lines) {
    const cells = line.map((cell, i) => (isNumber(i) ? cell.padStart(widths[i]) : cell.padEnd(widths[i])));
    process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
  }
}

export function writeResults(results) {
  writeFileSync(RESULTS_FILE, `${JSON.stringify(results, null, 2)}\n`);
}

/** Rounds to three significant digits. */
const short = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(3))) : '-');
