/** FAULTS=long asks for the long form: every fault, the longest outages, thousands of events. */
export const isLong = process.env.FAULTS === 'long';

/** How long something may take: as promised in the long form, three times that in the short one, which shares its machine. */
export const within = (promisedMs: number): number => (isLong ? promisedMs : 3 * promisedMs);
