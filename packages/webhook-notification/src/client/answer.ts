import type { FieldError } from '../catalogue/field-error';
import type { Answered, Unanswered } from './attempt';
import type { Page } from './routes';
import { WebhookServiceError } from './service-error';

/**
 * Returns the `data` of a response; for a list, a page.
 * @param what the request, for the message about a response that is not from the service: `GET https://…`
 * @throws WebhookServiceError for every response that is not a success of the service
 */
export function dataOf({ status, text, header }: Answered, what: string): unknown {
  const envelope = envelopeOf(text);
  const requestId = header('x-request-id');
  if (status >= 200 && status < 300 && envelope?.success === true && 'data' in envelope) {
    const { data, nextCursor } = envelope;
    return nextCursor === undefined ? data : ({ data, nextCursor } as Page<unknown>);
  }
  const { success, error, code, details } = envelope ?? {};
  const message = typeof error === 'string' ? error : foreign(status, header, what);
  const fromService = success === false && typeof error === 'string';
  const known = { code: typeof code === 'string' ? code : null, details: fieldErrorsOf(details) };
  throw new WebhookServiceError(message, status, requestId, { fromService, ...(fromService && known) });
}

/** Returns the error of a request without a response. */
export function unanswered({ cause }: Unanswered, what: string): WebhookServiceError {
  return new WebhookServiceError(`No answer to ${what}: ${reasonOf(cause)}.`, null, null, { cause });
}

/** Returns the entries that have the fields of an error; what stands in the service's place may send anything. */
function fieldErrorsOf(details: unknown): FieldError[] {
  if (!Array.isArray(details)) return [];
  return details.filter((each): each is FieldError => {
    const { field, message } = (each ?? {}) as Partial<FieldError>;
    return typeof field === 'string' && typeof message === 'string';
  });
}

interface Envelope {
  success?: unknown;
  data?: unknown;
  nextCursor?: unknown;
  error?: unknown;
  code?: unknown;
  details?: unknown;
}

function envelopeOf(text: string): Envelope | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Returns the message for a response from something else: a proxy, or another server. */
function foreign(status: number, header: Answered['header'], what: string): string {
  const answered = `${what} was answered ${status}`;
  const location = header('location');
  if (status >= 300 && status < 400 && location) {
    return `${answered} with a redirect to ${location}: redirects are not followed, so give createClient the final address.`;
  }
  const type = header('content-type')?.split(';', 1)[0] ?? 'nothing readable';
  return status >= 500
    ? `${answered} with ${type} in place of the service's JSON: probably a proxy cannot reach the service.`
    : `${answered} with ${type} in place of the service's JSON: check that the url leads to the service.`;
}

/** Returns the most specific message: fetch says "fetch failed", and hides the reason in its causes. */
function reasonOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  // Not `instanceof Error`: in jest, the errors of fetch come from another realm.
  const { cause, errors = [], code, message, name } = error as Partial<Error> & { errors?: unknown[]; code?: unknown };
  // An AggregateError contains an error for each address of the host.
  const deeper: unknown = cause ?? errors[0];
  if (deeper !== undefined && deeper !== null) return reasonOf(deeper);
  return message || String(code ?? name);
}
