/** FAULTS=long asks for the long form: every fault, the longest outages, thousands of events. */
export const isLong = process.env.FAULTS === 'long';
