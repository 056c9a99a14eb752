import type { EventType } from '../api/types';
import { TEXT } from '../text/en';
import { covers } from './event-names';
import { plainOf } from './plain';

/** Everything, everything of a family, or single events. */
export function EventPicker({
  types,
  chosen,
  onChange,
}: {
  types: readonly EventType[];
  chosen: readonly string[];
  onChange: (next: readonly string[]) => void;
}) {
  const families = [...new Set(types.flatMap(({ name }) => (name.includes('.') ? [`${name.split('.')[0]}.*`] : [])))];
  const isCovered = (name: string) => chosen.some((each) => each !== name && covers(each, name));
  const toggle = (name: string, isOn: boolean) =>
    onChange(isOn ? [...chosen.filter((each) => !covers(name, each)), name] : chosen.filter((each) => each !== name));
  const box = (name: string, description?: string) => (
    <label key={name} class="row option">
      <input
        type="checkbox"
        checked={chosen.includes(name) || isCovered(name)}
        disabled={isCovered(name)}
        onChange={({ currentTarget }) => toggle(name, currentTarget.checked)}
      />
      <span>
        <code>{name}</code> {description && <span class="muted small">{plainOf(description)}</span>}
      </span>
    </label>
  );
  return (
    <fieldset class="picker">
      <legend>{TEXT.newWebhook.events}</legend>
      {box('*', TEXT.newWebhook.everything)}
      {families.map((family) => (
        <div key={family} class="family">
          {box(family)}
          <div class="members">
            {types.filter(({ name }) => covers(family, name)).map(({ name, description }) => box(name, description))}
          </div>
        </div>
      ))}
    </fieldset>
  );
}
