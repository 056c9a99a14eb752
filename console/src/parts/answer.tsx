import type { Delivery } from '../api/types';
import { TEXT } from '../text/en';

type Answered = Pick<Delivery, 'responseStatus' | 'error' | 'url' | 'status'>;

/** The status code of a response, or the reason why there was none; of a pull webhook, whether it was acknowledged. */
export function AnswerBadge({ of: { responseStatus, error, url, status } }: { of: Answered }) {
  const isAcknowledged = url === null && status === 'succeeded';
  const none = error ? TEXT.errorNames[error.code] : isAcknowledged && TEXT.pull.ack;
  const text = responseStatus === null ? none : String(responseStatus);
  if (!text) return <span class="muted">–</span>;
  return <code class={`code-badge ${error ? 'bad' : 'good'}`}>{text}</code>;
}
