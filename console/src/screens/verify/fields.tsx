import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { TEXT } from '../../text/en';

/** A field with its label, its hint, and why it cannot be taken. */
export function Field({
  id,
  label,
  hint,
  error,
  children,
}: {
  id: string;
  label: string;
  hint?: string;
  error?: string | null;
  /** Gets what ties the input to label, hint and error. */
  children: (tied: Tied) => ComponentChildren;
}) {
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div class="labelled">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': described || undefined,
        'aria-invalid': error ? true : undefined,
      })}
      {error && (
        <p id={`${id}-error`} class="error small">
          {error}
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} class="muted small">
          {hint}
        </p>
      )}
    </div>
  );
}

export interface Tied {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

/** The secret: hidden until asked for, and unknown to password managers. */
export function SecretInput({
  value,
  onValue,
  ...tied
}: Tied & {
  value: string;
  onValue: (next: string) => void;
}) {
  const [isShown, setShown] = useState(false);
  return (
    <span class="field">
      <input
        {...tied}
        type={isShown ? 'text' : 'password'}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      <button type="button" class="button quiet" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
        {isShown ? TEXT.signIn.hide : TEXT.signIn.show}
      </button>
    </span>
  );
}
