import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { CallError } from '../api/call';
import { faultElsewhere, hasFaults } from './faults';
import { Problem } from './problem';

/** A form whose service checks it: the first faulty field gets the focus, and other errors are shown below the fields. */
export function Form({
  error,
  fields,
  onSubmit,
  actions,
  children,
}: {
  /** Of the last attempt to send it. */
  error: unknown;
  /** The fields of the request that show their own errors. */
  fields: readonly string[];
  onSubmit: (submitter: string | null) => void;
  actions: ComponentChildren;
  children: ComponentChildren;
}) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  const rest = withoutFields(error, fields);
  return (
    <form
      ref={form}
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit((event as SubmitEvent).submitter?.getAttribute('value') ?? null);
      }}
    >
      {children}
      {rest !== null && <Problem error={rest} />}
      {actions}
    </form>
  );
}

/** Returns the error without the messages that stand at these fields; null if nothing remains. */
function withoutFields(error: unknown, fields: readonly string[]): unknown {
  if (!(error instanceof CallError) || !hasFaults(error)) return error ?? null;
  const message = faultElsewhere(error, fields);
  return message === null ? null : new CallError(error.status, message, error.requestId);
}

/** Moves the focus to the first control of a form whose value is invalid, after the page has been updated. */
export const focusFirstFault = (form: HTMLFormElement | null): void =>
  void requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
