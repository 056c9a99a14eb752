/** Tests that load much from the npm registry: in CI and in the long run, and reported as skipped elsewhere. */
export const describeOnline = process.env.CI || process.env.LONG === '1' ? describe : xdescribe;
