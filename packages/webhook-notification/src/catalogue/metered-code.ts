/** The most faults that a loop of a compiled schema finds. */
export const MAX_FAULTS = 10;

/** What a check costs, in comparisons with one value of an `enum`. */
const CHECK = 32;
/** What a format, a length and the keys of an object cost beside their check, in checks. */
const SLOW = 3;
/** The most that one validation may cost, in the same unit: a million checks, about 0.1 s. */
const MAX_COST = 1_000_000 * CHECK;

const TEXT = /"(?:[^"\\]|\\.)*"/.source;
const VALUE = `data\\d*(?:\\.\\w+|\\[(?:\\w+|${TEXT})\\])*`;
const TOKENS = [
  `(?<loop>\\bfor\\((?:const|let) (?:[^{}"]|${TEXT})*\\)\\{)`,
  `(?<text>${TEXT})`,
  '(?<entry>\\blet errors = 0;)',
  '(?<check>\\berrors\\+\\+;)',
  '(?<slow>\\bformats\\d+\\b)',
  `\\b(?<size>Object\\.keys|func\\d+)\\((?<value>${VALUE})\\)`,
  `\\b(?<equal>func\\d+)\\((?=${VALUE}, )`,
  '(?<open>\\{)',
  '(?<close>\\})',
];
const TOKEN = new RegExp(TOKENS.join('|'), 'g');
type Name = 'loop' | 'text' | 'entry' | 'check' | 'slow' | 'size' | 'value' | 'equal' | 'open' | 'close';
type Token = Partial<Record<Name, string>>;

/** A validation would cost more than it may. */
export class TooCostly extends Error {}

/** Counts what a validation costs. Compiled schemas know it as `self.meter`. */
export class Meter {
  private left = Infinity;

  /** @param isBounded whether the next validation may cost a million checks at most, or whatever it does */
  begin(isBounded: boolean): void {
    this.left = isBounded ? MAX_COST : Infinity;
  }

  /** @throws TooCostly */
  charge(cost: number): void {
    if ((this.left -= cost) < 0) throw new TooCostly();
  }

  /** Charges for an operation that reads the whole value: the length of a text, the keys of an object. */
  sized<T>(value: T): T {
    if (typeof value === 'string') this.charge(value.length);
    else if (typeof value === 'object' && value !== null) this.charge((SLOW + Object.keys(value).length) * CHECK);
    return value;
  }

  /** Compares two values, which may cost as much as the larger one has members. */
  compare(equal: (a: unknown, b: unknown) => boolean, a: unknown, b: unknown): boolean {
    if (typeof a === 'object' && typeof b === 'object') {
      this.sized(a);
      this.sized(b);
    }
    return equal(a, b);
  }
}

/**
 * Changes the code that Ajv has made of a schema in two ways.
 *
 * Each loop ends after ten faults of its own: half a million wrong items would be as many faults. What the loop belongs to has
 * failed by then, whatever else it finds, so the verdict stays the same.
 *
 * Each call and each round of a loop is charged for the checks in it, before they are made.
 */
export function metered(code: string): string {
  const checks = countChecks(code);
  let loops = 0;
  return code.replaceAll(TOKEN, (found, ...rest) => {
    const { loop, entry, size, value, equal } = rest.at(-1) as Token;
    if (entry) return `${entry}self.meter.charge(${CHECK * (checks[0] ?? 0)});`;
    if (size) return `${size}(self.meter.sized(${value}))`;
    if (equal) return `self.meter.compare(${equal},`;
    if (!loop) return found;
    const before = `before${(loops += 1)}`;
    const cost = 1 + CHECK * (checks[loops] ?? 0);
    return `var ${before}=errors;${loop}if(errors-${before}>=${MAX_FAULTS})break;self.meter.charge(${cost});`;
  });
}

/** How many checks are in the function (the first number), and in each of its loops without the loops in it. */
function countChecks(code: string): number[] {
  const counts = [0];
  const within = [0];
  const innermost = () => within.at(-1) ?? 0;
  for (const { groups } of code.matchAll(TOKEN)) {
    const { loop, open, close, check, slow, size } = groups as Token;
    if (loop) within.push(counts.push(0) - 1);
    else if (open) within.push(innermost());
    else if (close) within.pop();
    else if (check) counts[innermost()]! += 1;
    else if (slow || size) counts[innermost()]! += SLOW;
  }
  return counts;
}
