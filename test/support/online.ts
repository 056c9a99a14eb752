/** Whether tests may load much from package registries: in CI and in the long run. */
export const isOnline = Boolean(process.env.CI) || process.env.LONG === '1';

/** Tests that load much from the npm registry; elsewhere they are reported as skipped. */
export const describeOnline = isOnline ? describe : xdescribe;

/** Tests that take more than a minute on a new machine, with `LONG=1` only. */
export const describeLong = process.env.LONG === '1' ? describe : xdescribe;
