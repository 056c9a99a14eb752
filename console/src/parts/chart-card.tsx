import { TEXT } from '../text/en';
import { Chart } from './chart';
import { Result } from './result';
import { Segmented } from './segmented';
import { barsOf, barMs, type Span, SPAN_NAMES } from './spans';
import { useStats } from './use-stats';

/** Deliveries over a span of time that one can choose. */
export function ChartCard({
  span,
  onSpan,
  webhookId,
}: {
  span: Span;
  onSpan: (next: Span) => void;
  /** Left out: of all webhooks. */
  webhookId?: string;
}) {
  const stats = useStats(span, { webhookId });
  return (
    <section class="card chart" aria-labelledby="chart">
      <div class="heading">
        <h2 id="chart">{TEXT.chart.title}</h2>
        <p class="legend" aria-hidden="true">
          <span class="good">{TEXT.chart.delivered}</span>
          <span class="bad">{TEXT.chart.failed}</span>
        </p>
        <Segmented
          name={TEXT.chart.span}
          options={SPAN_NAMES.map((name) => [name, name] as const)}
          value={span}
          onChange={onSpan}
        />
      </div>
      <Result of={stats} what={TEXT.chart.title}>
        {({ steps }) => <Chart steps={barsOf(steps, span)} stepMs={barMs(span)} webhookId={webhookId} />}
      </Result>
    </section>
  );
}
