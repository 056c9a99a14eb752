/** The sentences about pull webhooks, whose events consumers lease. */
export const PULL = {
  /** The name of a pull webhook without a description. */
  name: (id: string) => `Pull webhook ${id.slice(-6)}`,
  kind: 'Pull: consumers lease its events.',
  id: 'Copy id',
  leased: 'leased by a consumer',
  acknowledged: 'acknowledged',
  acknowledgedIn: (ms: number) => `acknowledged in ${ms.toLocaleString('en')} ms`,
  leasedAt: 'Leased',
  leasedLate: (time: string) => `leased ${time} after it was due`,
  message: 'Leased by a consumer',
  tab: 'Event',
  notLeased: 'No consumer has leased it.',
  dueNow: 'Make it due now',
  isDue: 'A consumer can lease it now.',
  timeout: 'The lease ended without an acknowledgement. Acknowledge in time, or lease for longer.',
} as const;
