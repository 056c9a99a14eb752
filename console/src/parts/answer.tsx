import type { Delivery } from '../api/types';
import { TEXT } from '../text/en';

/** What the receiver answered: the status code, or why there was none. */
export function AnswerBadge({ of: { responseStatus, error } }: { of: Pick<Delivery, 'responseStatus' | 'error'> }) {
  const text = responseStatus === null ? error && TEXT.errorNames[error.code] : String(responseStatus);
  if (!text) return <span class="muted">–</span>;
  return <code class={`code-badge ${error ? 'bad' : 'good'}`}>{text}</code>;
}
