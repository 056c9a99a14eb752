// A figure: what was measured and its limit, in turns, and the ratio of the two.

const ROUNDS = 3;

/**
 * Measures a limit and what is compared with it in turns, so that a machine that slows down slows both. Each of the two
 * hands back `{ values: { name: number }, problems: [sentence] }`, with the same names. `units` has those of single names.
 */
export async function inTurns(bench, { title, unit, units = {}, limit, measure }) {
  const rounds = [];
  for (let i = 1; i <= ROUNDS; i++) {
    const limited = await attempt(limit);
    const measured = await attempt(measure);
    const problems = [...limited.problems.map((problem) => `of the limit: ${problem}`), ...measured.problems];
    rounds.push({ limit: limited.values, measured: measured.values, problems });
    bench.say(
      `${title}, round ${i} of ${ROUNDS}: ${told(measured.values)} ${unit}, limit ${told(limited.values)} ${unit}`,
    );
    for (const problem of problems) bench.say(`  INVALID: ${problem}`);
  }
  bench.figures.push({ title, unit, units, rounds });
}

/** Measures three times what has its limit in the same run, which hands back `{ limit, measured, problems }`. */
export async function repeat(bench, { title, unit, units = {}, run }) {
  const rounds = [];
  for (let i = 1; i <= ROUNDS; i++) {
    const { limit = {}, measured = {}, problems } = await attempt(run);
    rounds.push({ limit, measured, problems });
    bench.say(`${title}, round ${i} of ${ROUNDS}: ${told(measured)} ${unit}, limit ${told(limit)} ${unit}`);
    for (const problem of problems) bench.say(`  INVALID: ${problem}`);
  }
  bench.figures.push({ title, unit, units, rounds });
}

/** A run that breaks does not end the bench: it is a figure that does not count. */
async function attempt(run) {
  return run().catch((error) => ({ values: {}, problems: [String(error.stack ?? error)] }));
}

const told = (values) =>
  Object.entries(values)
    .map(([name, value]) => `${name === 'value' ? '' : `${name} `}${Number(value.toPrecision(3))}`)
    .join(', ') || 'nothing';
