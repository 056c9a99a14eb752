import { CallError } from '../../api/call';
import { plainOf } from '../../parts/plain';
import { Problem } from '../../parts/problem';
import { TEXT } from '../../text/en';
import { type JsonPlaces, lineAt, placeOf } from './json-places';

/** The invalid fields of a refused event; those of its data with their lines. */
export function Faults({
  error,
  text,
  places,
  onPlace,
}: {
  error: unknown;
  text: string;
  places: JsonPlaces;
  onPlace: (at: number) => void;
}) {
  if (!(error instanceof CallError) || error.details.length === 0) return <Problem error={error} />;
  return (
    <div class="problem" role="alert">
      <p>{TEXT.publish.invalid(error.details.length)}</p>
      <ul class="plain faults">
        {error.details.map(({ field, message }, i) => {
          const at = placeOf(places, field);
          return (
            <li key={i}>
              {at !== null && (
                <button type="button" class="button small" onClick={() => onPlace(at)}>
                  {TEXT.publish.line(lineAt(text, at).line)}
                </button>
              )}
              <span>{plainOf(message)}</span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
