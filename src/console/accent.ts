/** Red, green and blue, 0 to 255 each. */
type Rgb = readonly number[];

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];

/** WCAG 2.2, 1.4.3: what texts need. */
const TEXT_CONTRAST = 4.5;

/** The background with the least contrast in each color scheme: `--sunken` in console/src/style/tokens.css. */
const GROUNDS = { light: rgbOf('#f4f4f6'), dark: rgbOf('#1b1d22') };

const mix = (one: Rgb, other: Rgb, share: number): Rgb =>
  one.map((value, i) => Math.round(value + ((other[i] as number) - value) * share));

export function rgbOf(color: string): Rgb {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

const hexOf = (color: Rgb): string => `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`;

/** Relative luminance of WCAG 2.2, 0 to 1. */
function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Contrast ratio of WCAG 2.2, 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Moves a color towards black or white until texts in it can be read on each of `grounds`. */
function readable(color: Rgb, towards: Rgb, grounds: readonly Rgb[]): Rgb {
  for (let share = 0; share < 1; share += 0.01) {
    const moved = mix(color, towards, share);
    if (grounds.every((ground) => contrast(moved, ground) >= TEXT_CONTRAST)) return moved;
  }
  return towards;
}

/**
 * Returns the style sheet that gives the console an accent, `#rrggbb`. In each scheme it is made darker or lighter as far as
 * texts in it and on it need.
 */
export function accentStyles(accent: string): string {
  const color = rgbOf(accent);
  const inScheme = (scheme: 'light' | 'dark', towards: Rgb) => {
    const ground = mix(GROUNDS[scheme], color, 0.1);
    const text = readable(color, towards, [GROUNDS[scheme], ground]);
    return { text, ground, on: contrast(WHITE, text) >= contrast(BLACK, text) ? WHITE : BLACK };
  };
  const [light, dark] = [inScheme('light', BLACK), inScheme('dark', WHITE)];
  const token = (name: string, key: 'text' | 'ground' | 'on') =>
    `--${name}: light-dark(${hexOf(light[key])}, ${hexOf(dark[key])});`;
  return `:root { ${[token('accent', 'text'), token('accent-ground', 'ground'), token('on-accent', 'on')].join(' ')} }\n`;
}
