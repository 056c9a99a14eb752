import type { Publication } from './chaos-load';
import type { Chronicle } from '../../support/chronicle';
import { inFlightAt, type LogRow, type Verdict } from './chaos-verdict';
import type { Waited, RunReport } from './chaos-run';
import { isLong } from './form';

/** A pool of connections takes up to a second to notice that its server is back, and longer on a busy machine. */
const NOTICED_WITHIN_MS = isLong ? 1000 : 10_000;

export interface Availability {
  asked: number;
  /** Publications that were not answered with 202 although everything that they need was there. */
  refused: Publication[];
  p50Ms: number;
  p99Ms: number;
}

/** How publications fared while PostgreSQL and the API were up. */
export function availabilityOf(publications: readonly Publication[], { absences }: Chronicle): Availability {
  const fair = publications.filter(
    ({ sentAt, answeredAt }) =>
      !absences.some(({ part, from, until }) => {
        const noticedAt = part === 'postgres' ? until + NOTICED_WITHIN_MS : until;
        return sentAt <= noticedAt && answeredAt >= from;
      }),
  );
  const refused = fair.filter(({ status }) => status !== 202);
  const took = fair.map(({ sentAt, answeredAt }) => answeredAt - sentAt).sort((a, b) => a - b);
  const percentile = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0;
  const [p50Ms, p99Ms] = [percentile(0.5), percentile(0.99)];
  return { asked: fair.length, refused, p50Ms, p99Ms };
}

export function tableOf({ faults, complaints }: RunReport, rows: readonly LogRow[]): string {
  const seconds = (ms: Waited) => (typeof ms === 'number' ? `${(ms / 1000).toFixed(1)} s` : (ms ?? '-')).padStart(8);
  const lines = faults.map(({ name, from, until, resumedMs, caughtUpMs }, i) =>
    [
      String(i + 1).padStart(3),
      name.padEnd(68),
      seconds(until - from),
      seconds(resumedMs),
      seconds(caughtUpMs),
      String(inFlightAt(rows, [{ from, until }])).padStart(9),
    ].join(' '),
  );
  const head = `    ${'fault'.padEnd(68)}    lasts  resumed caughtUp in flight`;
  return [head, ...lines, ...complaints.map((complaint) => `  ! ${complaint}`)].join('\n');
}

export function summaryOf(verdict: Verdict): string {
  const counts = Object.entries(verdict).map(
    ([name, value]) => `${name} ${Array.isArray(value) ? value.length : value}`,
  );
  return `  ${counts.join(' · ')}`;
}

export function publishingOf({ asked, refused, p50Ms, p99Ms }: Availability): string {
  const share = ((100 * (asked - refused.length)) / Math.max(1, asked)).toFixed(2);
  return `  ${share} % of ${asked} publications answered 202 while they could be (p50 ${p50Ms} ms, p99 ${p99Ms} ms)`;
}

export function print(text: string): void {
  process.stderr.write(`\n${text}\n`);
}
