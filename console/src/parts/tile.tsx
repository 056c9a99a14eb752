import type { ComponentChildren } from 'preact';
import type { Tone } from './pill';

/** One figure, and in a line below it how it came about. */
export const Tile = ({
  name,
  value,
  unit,
  note,
  tone,
}: {
  name: string;
  value: string;
  unit?: string;
  note?: ComponentChildren;
  tone?: Tone;
}) => (
  <div class="card tile">
    <dt>{name}</dt>
    <dd>
      <span class="value">
        {value}
        {unit && <small> {unit}</small>}
      </span>
      <span class={`note ${tone ?? ''}`}>{note}</span>
    </dd>
  </div>
);

export const Tiles = ({ children }: { children: ComponentChildren }) => <dl class="tiles">{children}</dl>;
