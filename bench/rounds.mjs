// A figure: a measurement and its limit, taken alternately, and the ratio of the two.

const ROUNDS = 3;

/**
 * Measures a limit and a workload alternately, so that a machine that slows down affects both. Each of the two returns
 * `{ values: { name: number }, problems: [message] }`, with the same names. `units` has the units of single names.
 */
export async function alternate(bench, { title, unit, units = {}, limit, measure }) {
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

/** Measures three times a run that has its limit built in, and returns `{ limit, measured, problems }`. */
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

/** A run that fails does not end the bench: its figure is invalid. */
async function attempt(run) {
  return run().catch((error) => ({ values: {}, problems: [String(error.stack ?? error)] }));
}

const told = (values) =>
  Object.entries(values)
    .map(([name, value]) => `${name === 'value' ? '' : `${name} `}${Number(value.toPrecision(3))}`)
    .join(', ') || 'nothing';
