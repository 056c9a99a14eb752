import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = join(__dirname, '..', '..', '..', 'console', 'src');
/** These lay out what they are given, or are shown as a part of others. */
const FRAMES = ['chart', 'form', 'pages', 'result', 'test-outcome', 'token-form'];

it('The gallery of the console shows every part', () => {
  const gallery = readFileSync(join(SOURCES, 'screens', 'gallery.tsx'), 'utf8');
  const parts = readdirSync(join(SOURCES, 'parts')).flatMap((name) => /^(.*)\.tsx$/.exec(name)?.[1] ?? []);
  const missing = parts.filter((part) => !gallery.includes(`from '../parts/${part}'`));
  expect(missing).toEqual(FRAMES);
});
