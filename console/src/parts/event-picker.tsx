import { useId } from 'preact/hooks';
import type { EventType } from '../api/types';
import { TEXT } from '../text/en';
import { covers } from './event-names';
import { FaultText } from './field';
import { plainOf } from './plain';

/** All events, those of a family, or single ones. */
export function EventPicker({
  types,
  chosen,
  onChange,
  error = null,
}: {
  types: readonly EventType[];
  chosen: readonly string[];
  onChange: (next: readonly string[]) => void;
  error?: string | null;
}) {
  const errorId = useId();
  const families = [...new Set(types.flatMap(({ name }) => (name.includes('.') ? [`${name.split('.')[0]}.*`] : [])))];
  // Patterns that no box stands for, and types that are gone.
  const known = new Set(['*', ...families, ...types.map(({ name }) => name)]);
  const isCovered = (name: string) => chosen.some((each) => each !== name && covers(each, name));
  const toggle = (name: string, isOn: boolean) =>
    onChange(isOn ? [...chosen.filter((each) => !covers(name, each)), name] : chosen.filter((each) => each !== name));
  const box = (name: string, description?: string) => (
    <label key={name} class="row option">
      <input
        type="checkbox"
        checked={chosen.includes(name) || isCovered(name)}
        disabled={isCovered(name)}
        aria-invalid={error !== null && name === '*' ? true : undefined}
        aria-describedby={error !== null && name === '*' ? errorId : undefined}
        onChange={({ currentTarget }) => toggle(name, currentTarget.checked)}
      />
      <span>
        <code>{plainOf(name)}</code> {description && <span class="muted small">{plainOf(description)}</span>}
      </span>
    </label>
  );
  return (
    <fieldset class="picker">
      <legend>{TEXT.newWebhook.events}</legend>
      {error !== null && <FaultText id={errorId} text={error} />}
      {box('*', TEXT.newWebhook.everything)}
      {families.map((family) => (
        <div key={family} class="family">
          {box(family)}
          <div class="members">
            {types.filter(({ name }) => covers(family, name)).map(({ name, description }) => box(name, description))}
          </div>
        </div>
      ))}
      {(types.length === 0 ? [] : chosen).filter((name) => !known.has(name)).map((name) => box(name))}
    </fieldset>
  );
}
