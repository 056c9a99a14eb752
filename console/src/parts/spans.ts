import type { StatsStep } from '../api/types';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `bars` of `step` each make one bar of the chart, so that none is too thin to be seen. */
export const SPANS = {
  '1 h': { ms: HOUR_MS, step: '5m', stepMs: 5 * MINUTE_MS, perBar: 1 },
  '24 h': { ms: DAY_MS, step: '5m', stepMs: 5 * MINUTE_MS, perBar: 4 },
  '7 d': { ms: 7 * DAY_MS, step: '1h', stepMs: HOUR_MS, perBar: 2 },
  '30 d': { ms: 30 * DAY_MS, step: '1d', stepMs: DAY_MS, perBar: 1 },
} as const;
export type Span = keyof typeof SPANS;
export const SPAN_NAMES = Object.keys(SPANS) as Span[];

/** The steps of a span as bars. */
export function barsOf(steps: readonly StatsStep[], span: Span): StatsStep[] {
  const { perBar } = SPANS[span];
  const bars: StatsStep[] = [];
  // From the end, so that the last bar is as long as all others.
  for (let end = steps.length; end > 0; end -= perBar) {
    const [first, ...others] = steps.slice(Math.max(0, end - perBar), end);
    if (first) bars.unshift(others.reduce(sum, first));
  }
  return bars;
}

/** Length of a bar of a span. */
export const barMs = (span: Span): number => SPANS[span].stepMs * SPANS[span].perBar;

const sum = (a: StatsStep, b: StatsStep): StatsStep => ({
  ...a,
  succeeded: a.succeeded + b.succeeded,
  failed: a.failed + b.failed,
  canceled: a.canceled + b.canceled,
});
