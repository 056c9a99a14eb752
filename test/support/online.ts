/** Tests that load much from the npm registry: in CI and in the long run, and reported as skipped elsewhere. */
export const describeOnline = process.env.CI || process.env.LONG === '1' ? describe : xdescribe;

/** Tests that take more than a minute on a new machine, with `LONG=1` only. */
export const describeLong = process.env.LONG === '1' ? describe : xdescribe;
