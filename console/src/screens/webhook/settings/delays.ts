const UNITS: readonly (readonly [name: string, ms: number, word: string])[] = [
  ['d', 86_400_000, 'd'],
  ['h', 3_600_000, 'h'],
  ['m', 60_000, 'min'],
  ['s', 1000, 's'],
  ['ms', 1, 'ms'],
];

const DELAY = /^(\d+(?:\.\d+)?)\s*(ms|s|sec|m|min|h|d)$/i;
const SAME: Readonly<Record<string, string>> = { sec: 's', min: 'm' };

/**
 * Reads a list such as `1m, 5m, 2h`, in ms; an empty text is an empty list.
 * @returns the first part that is no delay, if there is one
 */
export function delaysOf(text: string): { delays: number[] } | { wrong: string } {
  if (text.trim() === '') return { delays: [] };
  const delays: number[] = [];
  for (const part of text.split(',').map((each) => each.trim())) {
    const [, number, unit = ''] = DELAY.exec(part) ?? [];
    const name = unit.toLowerCase();
    const ms = UNITS.find(([each]) => each === (SAME[name] ?? name))?.[1];
    if (number === undefined || ms === undefined) return { wrong: part };
    delays.push(Math.round(Number(number) * ms));
  }
  return { delays };
}

/** The list as `delaysOf` reads it, each delay in the largest unit that divides it. */
export const delaysText = (delays: readonly number[]): string =>
  delays
    .map((delay) => {
      const [name, size] = UNITS.find(([, ms]) => delay % ms === 0 && delay > 0) ?? ['ms', 1];
      return `${delay / size}${name}`;
    })
    .join(', ');

/** An exact length of time, such as `1 min 30 s`. */
export function exactLength(ms: number): string {
  let rest = ms;
  const words = UNITS.flatMap(([, size, word]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count > 0 ? [`${count} ${word}`] : [];
  });
  return words.join(' ') || '0 s';
}
