import { useId } from 'preact/hooks';
import { TEXT } from '../../text/en';
import type { Kind } from './new-body';

const KINDS = ['push', 'pull'] as const;

/** Whether the service sends events, or consumers lease them. */
export function KindChoice({ chosen, onChange }: { chosen: Kind; onChange: (next: Kind) => void }) {
  const group = useId();
  return (
    <fieldset class="choices">
      <legend>{TEXT.pull.choice}</legend>
      {KINDS.map((kind) => (
        <label key={kind} class="row option">
          <input type="radio" name={group} checked={kind === chosen} onChange={() => onChange(kind)} />
          <span>
            {TEXT.pull.kinds[kind][0]} <span class="muted small">{TEXT.pull.kinds[kind][1]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
