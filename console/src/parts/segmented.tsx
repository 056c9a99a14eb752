/** One of a few, all of which can be seen. */
export function Segmented<T extends string>({
  name,
  options,
  value,
  onChange,
}: {
  /** What one chooses; screen readers say it. */
  name: string;
  options: readonly (readonly [value: T, text: string])[];
  value: T;
  onChange: (next: T) => void;
}) {
  return (
    <div class="segmented" role="group" aria-label={name}>
      {options.map(([each, text]) => (
        <button key={each} type="button" aria-pressed={each === value} onClick={() => onChange(each)}>
          {text}
        </button>
      ))}
    </div>
  );
}
