import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { CallError } from '../api/call';
import { plainOf } from './plain';

/** What a control needs so that screen readers read its hint and its error. */
export interface Described {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
}

/** A control with its label, a hint, and the error of its value below it. */
export function CheckedField({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: string;
  /** Null or undefined: the value is valid. */
  error?: string | null;
  children: (described: Described) => ComponentChildren;
}) {
  const id = useId();
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div class="checked">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': describedBy || undefined, 'aria-invalid': Boolean(error) })}
      {hint && (
        <p id={`${id}-hint`} class="muted small">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} class="fault small">
          {error}
        </p>
      )}
    </div>
  );
}

/** Moves the focus to the first control of a form whose value is invalid, after the page has been updated. */
export const focusFirstFault = (form: HTMLFormElement | null): void =>
  void requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());

/** Returns what the service says about the content of a request; null for every other error. */
export const refusalOf = (error: unknown): string | null =>
  error instanceof CallError && error.code === 'validation_failed' ? plainOf(error.message) : null;
