import type { Scope } from '../../api/types';
import { Segmented } from '../../parts/segmented';
import { TEXT } from '../../text/en';
import { presetOf, presetsFor } from './presets';

const { tokens } = TEXT;

/** What a new token may do: a usual choice, or single scopes of those that are held. */
export function ScopeChoice({
  held,
  chosen,
  error,
  onChange,
}: {
  held: readonly Scope[];
  chosen: readonly Scope[];
  error: string | null;
  onChange: (next: readonly Scope[]) => void;
}) {
  const presets = presetsFor(held);
  const choose = (scope: Scope, isOn: boolean) =>
    onChange(isOn ? [...chosen, scope] : chosen.filter((each) => each !== scope));
  return (
    <fieldset class="scopes" aria-describedby={error ? 'scopes-error' : undefined}>
      <legend>{tokens.scopes}</legend>
      <Segmented
        name={tokens.preset}
        options={presets.map(([preset]) => [preset, tokens.presets[preset]] as const)}
        value={presetOf(chosen, held) ?? ''}
        onChange={(next) => onChange(presets.find(([preset]) => preset === next)?.[1] ?? [])}
      />
      <div class="boxes">
        {held.map((scope) => (
          <label key={scope} class="row option">
            <input
              type="checkbox"
              checked={chosen.includes(scope)}
              aria-invalid={error !== null}
              onChange={({ currentTarget }) => choose(scope, currentTarget.checked)}
            />
            <span>
              <code>{scope}</code> <span class="muted small">{tokens.about[scope]}</span>
            </span>
          </label>
        ))}
      </div>
      {error && (
        <p id="scopes-error" class="fault small">
          {error}
        </p>
      )}
    </fieldset>
  );
}
