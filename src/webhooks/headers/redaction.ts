import { HIDDEN } from './header-rules';

/** A shorter value is no secret: it is hidden only as a whole token between spaces. */
const MIN_VALUE = 8;
/** A run of this many characters of a value tells a part of it. */
const RUN = 12;
/** A shorter beginning at the end of a cut text tells nothing. */
const MIN_BEGINNING = 4;

/**
 * Returns a function that hides header values in a text of the receiver, which may repeat its request: each value, each part of 8 or
 * more characters between spaces, both as JSON escapes them and in base64, in any case; any run of 12 characters of these; and shorter
 * values where they stand alone between spaces.
 * @param values the values that were sent
 */
export function redactionOf(values: readonly string[]): (text: string, isCut: boolean, isName?: boolean) => string {
  const parts = new Set(
    values.flatMap((value) => [value, ...value.split(' ')]).filter(({ length }) => length >= MIN_VALUE),
  );
  const needles = [...new Set([...parts].flatMap(formsOf).map(lower))];
  const tokens = new Set(values.filter(({ length }) => length < MIN_VALUE));
  const runs = new Set(needles.flatMap(runsOf));
  return (text, isCut, isName = false) => {
    const hidden = hiddenPlaces(lower(text), needles, runs, isCut);
    const whole = mapRuns(text, hidden);
    return tokens.size === 0 || isName ? whole : whole.replace(/\S+/g, (token) => (tokens.has(token) ? HIDDEN : token));
  };
}

/** Only ASCII, of which values consist: other letters may change their length. */
const lower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Returns a value as it is, as JSON escapes it, and in base64, also as a part of a longer text. */
function formsOf(value: string): string[] {
  const base64 = [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.from(' '.repeat(before) + value)
      .toString('base64')
      .replace(/=+$/, '');
    // The characters at both ends depend on what stands next to the value.
    const inner = encoded.slice(before === 0 ? 0 : before + 1, (value.length + before) % 3 === 0 ? undefined : -1);
    return before === 0 ? [encoded, inner] : [inner];
  });
  const forms = [...base64, ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))];
  return [value, JSON.stringify(value).slice(1, -1), ...forms.filter(({ length }) => length >= MIN_VALUE)];
}

const runsOf = (needle: string): string[] =>
  Array.from({ length: Math.max(0, needle.length - RUN + 1) }, (_, i) => needle.slice(i, i + RUN));

/** Returns which characters of a text belong to a value, or to a run of one. */
function hiddenPlaces(text: string, needles: readonly string[], runs: ReadonlySet<string>, isCut: boolean): Uint8Array {
  const hidden = new Uint8Array(text.length);
  for (const needle of needles)
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1))
      hidden.fill(1, at, at + needle.length);
  for (let at = 0; runs.size > 0 && at + RUN <= text.length; at++)
    if (runs.has(text.slice(at, at + RUN))) hidden.fill(1, at, at + RUN);
  const beginning = isCut ? Math.max(0, ...needles.map((needle) => beginningAt(text, needle))) : 0;
  if (beginning >= MIN_BEGINNING) hidden.fill(1, text.length - beginning);
  return hidden;
}

/** Replaces each run of hidden characters. */
function mapRuns(text: string, hidden: Uint8Array): string {
  let [shown, from] = ['', 0];
  for (let at = hidden.indexOf(1); at >= 0; at = hidden.indexOf(1, from)) {
    shown += text.slice(from, at) + HIDDEN;
    const end = hidden.indexOf(0, at);
    from = end < 0 ? text.length : end;
  }
  return shown + text.slice(from);
}

/** Returns the length of the longest beginning of `needle` with which `text` ends. */
function beginningAt(text: string, needle: string): number {
  for (let length = Math.min(needle.length - 1, text.length); length > 0; length--)
    if (text.endsWith(needle.slice(0, length))) return length;
  return 0;
}
