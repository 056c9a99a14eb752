import { Link } from 'wouter-preact';
import { encoded } from '../api/address';
import type { StatsStep } from '../api/types';
import { TEXT } from '../text/en';
import { Bars } from './bars';
import { At, clockOf, useUtc } from './time';

const LABELS = 6;

/** Delivered and failed attempts over time, large; beside it the same numbers as a table. */
export function Chart({
  steps,
  stepMs,
  webhookId,
}: {
  steps: readonly StatsStep[];
  stepMs: number;
  webhookId?: string;
}) {
  const [isUtc] = useUtc();
  const every = Math.ceil(steps.length / LABELS);
  const labels = steps.filter((_, i) => i % every === 0);
  return (
    <>
      <Bars steps={steps} label={TEXT.chart.title} isLarge />
      <p class="axis" aria-hidden="true">
        {labels.map(({ from }) => (
          <span key={from}>{clockOf(from, isUtc, stepMs)}</span>
        ))}
        <span>{TEXT.chart.now}</span>
      </p>
      <details>
        <summary>{TEXT.chart.asTable}</summary>
        <Numbers steps={steps} stepMs={stepMs} webhookId={webhookId} />
      </details>
    </>
  );
}

function Numbers({ steps, stepMs, webhookId }: { steps: readonly StatsStep[]; stepMs: number; webhookId?: string }) {
  const made = steps.filter(({ succeeded, failed }) => succeeded + failed > 0);
  return (
    <table class="log">
      <thead>
        <tr>
          <th scope="col">{TEXT.chart.from}</th>
          <th scope="col" class="end">
            {TEXT.chart.delivered}
          </th>
          <th scope="col" class="end">
            {TEXT.chart.failed}
          </th>
        </tr>
      </thead>
      <tbody>
        {made.map(({ from, succeeded, failed }) => (
          <tr key={from}>
            <td>
              <Link href={encoded`/deliveries?webhookId=${webhookId ?? ''}&since=${from}&until=${after(from, stepMs)}`}>
                <At at={from} />
              </Link>
            </td>
            <td class="number end">{succeeded.toLocaleString('en')}</td>
            <td class="number end">{failed.toLocaleString('en')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const after = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();
