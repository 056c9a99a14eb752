import { useState } from 'preact/hooks';
import { TEXT } from '../text/en';
import { CopyButton } from './copy';
import { prettyOf } from './json';
import { plainOf } from './plain';

/** Headers and body of a request or an answer, as text and nothing else. Copying copies the exact bytes. */
export function Message({
  headers,
  body,
  isTruncated = false,
}: {
  headers: Record<string, unknown>;
  body: string;
  isTruncated?: boolean;
}) {
  const [isRaw, setRaw] = useState(false);
  const pretty = prettyOf(body);
  const bytes = new TextEncoder().encode(body).length;
  return (
    <div class="message">
      <dl class="headers">
        {Object.entries(headers).map(([name, value]) => (
          <div key={name}>
            <dt>{plainOf(name)}</dt>
            <dd>{plainOf([value].flat().map(String).join(', '))}</dd>
          </div>
        ))}
      </dl>
      {body === '' ? (
        <p class="muted">{TEXT.delivery.empty}</p>
      ) : (
        <pre tabIndex={0}>{plainOf(isRaw ? body : pretty)}</pre>
      )}
      <div class="actions">
        <span class="muted small number">
          {isTruncated ? TEXT.delivery.truncated(bytes) : TEXT.delivery.bytes(bytes)}
        </span>
        {pretty !== body && (
          <button type="button" class="button quiet" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
            {TEXT.delivery.raw}
          </button>
        )}
        <CopyButton text={body} label={TEXT.delivery.copyBody} />
      </div>
    </div>
  );
}
