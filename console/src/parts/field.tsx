import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';
import { plainOf } from './plain';

/** The attributes that tie an input to its label, hint and error. */
export interface Tie {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

interface Frame {
  label: string;
  hint?: ComponentChildren;
  error?: string | null;
}

/** A label, an input, a hint, and the error of the last attempt to save. */
export function Field({ label, hint, error, children }: Frame & { children: (tie: Tie) => ComponentChildren }) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {hint && (
        <p id={`${id}-hint`} class="muted small">
          {hint}
        </p>
      )}
      {error && <FaultText id={`${id}-error`} text={error} />}
    </div>
  );
}

export const FaultText = ({ id, text }: { id: string; text: string }) => (
  <p id={id} class="fault small">
    {plainOf(text)}
  </p>
);

type Input = Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onInput' | 'label' | 'id'>;

/** One line of text. */
export const TextField = ({
  label,
  hint,
  error,
  value,
  onValue,
  ...input
}: Frame & Input & { value: string; onValue: (next: string) => void }) => (
  <Field label={label} hint={hint} error={error}>
    {(tie) => <input {...input} {...tie} value={value} onInput={({ currentTarget }) => onValue(currentTarget.value)} />}
  </Field>
);
