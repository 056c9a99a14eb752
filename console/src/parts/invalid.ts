import { CallError } from '../api/call';

/** An error that the page itself finds in a field, in the form of one of the service. */
export const invalid = (field: string, message: string): CallError =>
  new CallError(400, message, null, null, 'validation_failed', [{ field, code: 'invalid', message }]);
