/** An invalid field of a request or an event. */
export interface FieldError {
  /** Path of the field, such as `events[2]`, `data.follower.id`, `query.limit`, `path.id` or `header.idempotency-key`. */
  field: string;
  code: 'required' | 'unknown_field' | 'unknown_event_type' | 'destination_blocked' | 'invalid';
  /** Names the problem; never contains the value of a secret. */
  message: string;
}

/** Returns the message about several fields. */
export const messageOf = (errors: readonly FieldError[]): string => errors.map(({ message }) => message).join('; ');

/** Returns the error of a field whose name begins its message. */
export const invalidField = (field: string, problem: string): FieldError => ({
  field,
  code: 'invalid',
  message: `${field} ${problem}`,
});
