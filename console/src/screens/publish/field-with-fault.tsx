import type { ComponentChildren } from 'preact';
import type { Fault } from '../../api/types';
import { plainOf } from '../../parts/plain';

interface Attributes {
  name: string;
  'aria-invalid': boolean;
  'aria-describedby': string;
}

/** A labeled field with its hint, and the error of the service for its value. */
export function FieldWithFault({
  name,
  label,
  hint,
  details,
  children,
}: {
  /** As in the API. */
  name: string;
  label: string;
  hint?: string;
  details: readonly Fault[];
  children: (attributes: Attributes) => ComponentChildren;
}) {
  const fault = details.find(({ field }) => field === name);
  const id = `${name}-says`;
  return (
    <div class="field-with-fault">
      <label>
        {label}
        {children({ name, 'aria-invalid': fault !== undefined, 'aria-describedby': id })}
      </label>
      <div id={id}>
        {hint && <p class="muted small">{hint}</p>}
        {fault && <p class="fault">{plainOf(fault.message)}</p>}
      </div>
    </div>
  );
}
