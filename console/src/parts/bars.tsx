import type { StatsStep } from '../api/types';
import { TEXT } from '../text/en';
import { At } from './time';

const HEIGHT = 28;
const WIDTH = 6;

/** Delivered and failed attempts of each step. The same numbers are said in words, for who does not see them. */
export function Bars({ steps, label }: { steps: readonly StatsStep[]; label: string }) {
  const most = Math.max(1, ...steps.map(({ succeeded, failed }) => succeeded + failed));
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT));
  const [good, bad] = [sum(steps, 'succeeded'), sum(steps, 'failed')];
  return (
    <svg
      class="bars"
      role="img"
      aria-label={TEXT.webhook.bars(label, good, bad)}
      viewBox={`0 0 ${steps.length * WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {steps.map(({ from, succeeded, failed }, i) => (
        <g key={from}>
          <rect class="none" x={i * WIDTH} y={HEIGHT - 1} width={WIDTH - 1} height={1} />
          <rect
            class="good"
            x={i * WIDTH}
            y={HEIGHT - heightOf(succeeded)}
            width={WIDTH - 1}
            height={heightOf(succeeded)}
          />
          <rect
            class="bad"
            x={i * WIDTH}
            y={HEIGHT - heightOf(succeeded) - heightOf(failed)}
            width={WIDTH - 1}
            height={heightOf(failed)}
          />
        </g>
      ))}
    </svg>
  );
}

const sum = (steps: readonly StatsStep[], what: 'succeeded' | 'failed'): number =>
  steps.reduce((total, step) => total + step[what], 0);

/** The same, large, with the span of time and the highest number. */
export function Chart({ steps, label }: { steps: readonly StatsStep[]; label: string }) {
  const [first, last] = [steps[0], steps.at(-1)];
  const most = Math.max(0, ...steps.map(({ succeeded, failed }) => succeeded + failed));
  return (
    <div class="chart">
      <Bars steps={steps} label={label} />
      {first && last && (
        <p class="muted small">
          <At at={first.from} />
          <span>{TEXT.webhook.most(most)}</span>
          <At at={last.from} />
        </p>
      )}
    </div>
  );
}
