import { useState } from 'preact/hooks';
import { TEXT } from '../text/en';
import { CopyButton } from './copy';
import { prettyOf } from './json';
import { JsonText } from './json-text';
import { plainOf } from './plain';

interface Content {
  headers: Record<string, unknown>;
  body: string;
  isTruncated?: boolean;
}

/** Headers and body of a request or an answer, as text and nothing else. */
export const Message = ({ headers, ...body }: Content) => (
  <div class="message">
    <HeaderList headers={headers} />
    <Body {...body} />
  </div>
);

export const HeaderList = ({ headers }: Pick<Content, 'headers'>) => (
  <dl class="headers">
    {Object.entries(headers).map(([name, value]) => (
      <div key={name}>
        <dt>{plainOf(name)}</dt>
        <dd>{plainOf([value].flat().map(String).join(', '))}</dd>
      </div>
    ))}
  </dl>
);

/** Copying copies the exact bytes, however they are shown. */
export function Body({ body, isTruncated = false }: Omit<Content, 'headers'>) {
  const [isRaw, setRaw] = useState(false);
  const pretty = prettyOf(body);
  const bytes = new TextEncoder().encode(body).length;
  return (
    <>
      {body === '' ? (
        <p class="muted">{TEXT.delivery.empty}</p>
      ) : (
        <pre tabIndex={0}>{isRaw ? plainOf(body) : <JsonText text={pretty} />}</pre>
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
    </>
  );
}
