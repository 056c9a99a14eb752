import { useSigned } from '../../api/signed';
import { TEXT } from '../../text/en';
import type { Audience } from './draft';

const { audiences } = TEXT.publish;
const NAMES = Object.keys(audiences) as Audience[];

/** Whose webhooks receive the event. */
export function AudienceField({ value, onChange }: { value: Audience; onChange: (next: Audience) => void }) {
  const { may } = useSigned();
  const isLimited = !may('events:broadcast');
  return (
    <fieldset class="audience" aria-describedby={isLimited ? 'audience-limit' : undefined}>
      <legend>{TEXT.publish.audience}</legend>
      {NAMES.map((name) => (
        <label key={name} class="row">
          <input
            type="radio"
            name="audience"
            checked={value === name}
            disabled={isLimited && name !== 'me'}
            onChange={() => onChange(name)}
          />
          {audiences[name]}
        </label>
      ))}
      {isLimited && (
        <span id="audience-limit" class="muted small">
          {TEXT.lacks('events:broadcast')}
        </span>
      )}
    </fieldset>
  );
}
