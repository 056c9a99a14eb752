import type { Delivery } from '../api/types';
import { TEXT } from '../text/en';

/** The status code of a response, or the reason why there was none. */
export function AnswerBadge({ of: { responseStatus, error } }: { of: Pick<Delivery, 'responseStatus' | 'error'> }) {
  const text = responseStatus === null ? error && TEXT.errorNames[error.code] : String(responseStatus);
  if (!text) return <span class="muted">–</span>;
  return <code class={`code-badge ${error ? 'bad' : 'good'}`}>{text}</code>;
}
