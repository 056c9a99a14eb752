import type { Delivery } from './delivery.entity';
import type { ErrorCode } from './delivery-error';

type WaitingRow = Pick<Delivery, 'status' | 'url' | 'parked' | 'claimed' | 'scheduledAt' | 'errorCode' | 'hasRate'>;

interface Reason {
  /** Whether an unclaimed pending row waits for it. */
  isWhy: (row: WaitingRow, isDue: boolean) => boolean;
  /** An attempt that ends with this error is put back: its row is due again after these seconds, and nothing else changes. */
  putBack?: { error: ErrorCode; seconds: number };
}

const putBack = (error: ErrorCode, seconds: number): Reason => ({
  isWhy: ({ parked, errorCode }) => !parked && errorCode === error,
  putBack: { error, seconds },
});
const isOrdinary = ({ parked, errorCode }: WaitingRow): boolean => !parked && !errorCode;

/** Everything that a pending row may wait for, one line each. At most one applies; none to a row that is due and on its queue. */
const REASONS = {
  backoff: { isWhy: (row, isDue) => isOrdinary(row) && !isDue },
  slot: { isWhy: ({ parked, hasRate }) => parked && !hasRate },
  rate: { isWhy: ({ parked, hasRate }) => parked && hasRate },
  proxy: putBack('proxy_failed', 30),
  dns: putBack('dns_failed', 30),
  operator: putBack('service_failed', 30),
  consumer: { isWhy: (row, isDue) => isOrdinary(row) && isDue && row.url === null },
} as const satisfies Record<string, Reason>;

export type Wait = keyof typeof REASONS;
export const WAITS = Object.keys(REASONS) as Wait[];

const reasonOf = (wait: Wait): Reason => REASONS[wait];

/** Returns what a row waits for at `nowMs`; null when it is claimed, final, or about to be sent. */
export function waitOf(row: WaitingRow, nowMs: number): Wait | null {
  if (row.status !== 'pending' || row.claimed) return null;
  const isDue = row.scheduledAt.getTime() <= nowMs;
  return WAITS.find((wait) => reasonOf(wait).isWhy(row, isDue)) ?? null;
}

/** The waits that an attempt may be put back to, each with the error of its rows. */
export const PUT_BACKS = WAITS.flatMap((wait) => {
  const { putBack: to } = reasonOf(wait);
  return to ? [{ wait, ...to }] : [];
});

/** Returns the error of attempts that were put back to wait for this. */
export const errorBefore = (wait: Wait): ErrorCode | undefined => reasonOf(wait).putBack?.error;

/** Returns what an attempt with this error waits for; null when the error is its outcome. */
export const waitAfter = (error: ErrorCode): Wait | null =>
  PUT_BACKS.find((each) => each.error === error)?.wait ?? null;
