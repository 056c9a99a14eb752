import type { StatsStep } from '../api/types';
import { TEXT } from '../text/en';

const HEIGHT = 26;
const LARGE_HEIGHT = 130;
const WIDTH = 10;
/** Between two bars, and between the two parts of one. */
const GAP = 2;

/** Delivered and failed attempts of each step. The same numbers are said in words, for who does not see them. */
export function Bars({
  steps,
  label,
  isLarge = false,
}: {
  steps: readonly StatsStep[];
  label: string;
  isLarge?: boolean;
}) {
  const height = isLarge ? LARGE_HEIGHT : HEIGHT;
  const most = Math.max(1, ...steps.map(({ succeeded, failed }) => succeeded + failed));
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(1, (count / most) * (height - GAP)));
  return (
    <svg
      class={isLarge ? 'bars large' : 'bars'}
      role="img"
      aria-label={TEXT.chart.bars(label, sum(steps, 'succeeded'), sum(steps, 'failed'))}
      viewBox={`0 0 ${steps.length * WIDTH} ${height}`}
      preserveAspectRatio="none"
    >
      {steps.map(({ from, succeeded, failed }, i) => {
        const [good, bad] = [heightOf(succeeded), heightOf(failed)];
        const gap = good > 0 && bad > 0 ? GAP / 2 : 0;
        const bar = { x: i * WIDTH, width: WIDTH - GAP };
        return (
          <g key={from}>
            {isLarge && <title>{TEXT.chart.bar(from, succeeded, failed)}</title>}
            <rect class="all" x={i * WIDTH} y={0} width={WIDTH} height={height} />
            {good + bad === 0 && <rect class="none" {...bar} y={height - 1} height={1} />}
            <rect class="good" {...bar} y={height - good} height={good} />
            <rect class="bad" {...bar} y={Math.max(0, height - good - gap - bad)} height={bad} />
          </g>
        );
      })}
    </svg>
  );
}

const sum = (steps: readonly StatsStep[], what: 'succeeded' | 'failed'): number =>
  steps.reduce((total, step) => total + step[what], 0);
