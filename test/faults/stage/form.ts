const { FAULTS, EVENTS } = process.env;

/** FAULTS=long asks for the long form: every fault, the longest outages, thousands of events. So does a number of faults. */
export const isLong = FAULTS === 'long' || Number(FAULTS) > 0;

/** How many faults and events a run has at least: FAULTS and EVENTS set them. */
export const AT_LEAST_FAULTS = Number(FAULTS) || (isLong ? 32 : 5);
export const AT_LEAST_EVENTS = Number(EVENTS) || (isLong ? 5000 : 100);
