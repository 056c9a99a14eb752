import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { accentStyles, contrast, rgbOf } from './accent';

const TOKENS = readFileSync(join(__dirname, '../../console/src/style/tokens.css'), 'utf8');

/** The colors of a style sheet by their names, in one scheme. */
function colorsOf(styles: string, scheme: 'light' | 'dark'): Record<string, string> {
  const pairs = styles.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g);
  return Object.fromEntries([...pairs].map(([, name, light, dark]) => [name, scheme === 'light' ? light : dark]));
}

const GROUNDS = ['ground', 'raised', 'sunken', 'hover'];
const TEXTS = ['ink', 'muted', 'faint', 'accent', 'good', 'bad', 'wait', 'json-name', 'json-text', 'json-number'];
const PAIRS: [text: string, ground: string, least: number][] = [
  ...TEXTS.flatMap((text) => GROUNDS.map((ground): [string, string, number] => [text, ground, 4.5])),
  ...['accent', 'good', 'bad', 'wait'].map((name): [string, string, number] => [name, `${name}-ground`, 4.5]),
  ...['accent', 'good', 'bad', 'wait'].map((name): [string, string, number] => ['ink', `${name}-ground`, 4.5]),
  ['on-accent', 'accent', 4.5],
  // Edges and marks that mean something.
  ...GROUNDS.map((ground): [string, string, number] => ['input', ground, 3]),
  ...['good-mark', 'bad-mark', 'wait-mark'].map((mark): [string, string, number] => [mark, 'raised', 3]),
];

const tooLow = (colors: Record<string, string>) =>
  PAIRS.map(([text, ground, least]) => ({
    pair: `${text} on ${ground}`,
    ratio: contrast(rgbOf(colors[text] as string), rgbOf(colors[ground] as string)),
    least,
  })).filter(({ ratio, least }) => !(ratio >= least));

describe.each(['light', 'dark'] as const)('The colors of the console in the %s scheme', (scheme) => {
  const ours = colorsOf(TOKENS, scheme);

  it('can be read, in every pair that occurs', () => {
    expect(tooLow(ours)).toEqual([]);
  });

  it('can be read with any accent', () => {
    const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
    const edges = ['#000000', '#ffffff', '#ffff00', '#0000ff', '#808080', '#777777'];
    fc.assert(
      fc.property(color, (accent) => {
        expect(tooLow({ ...ours, ...colorsOf(accentStyles(accent), scheme) })).toEqual([]);
      }),
      { examples: edges.map((edge) => [edge]) },
    );
  });
});

it('an accent that can be read stays as it is', () => {
  expect(colorsOf(accentStyles('#4f46e5'), 'light').accent).toBe('#4f46e5');
  expect(contrast(rgbOf('#000000'), rgbOf('#ffffff'))).toBeCloseTo(21);
});
