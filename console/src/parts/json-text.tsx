import type { ComponentChildren } from 'preact';
import { plainOf } from './plain';

/** Longer texts are shown without colours: each value is an element. */
const MOST_COLOURED = 20_000;
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/g;

/** A text with its JSON names, texts and numbers in colours. */
export function JsonText({ text }: { text: string }) {
  if (text.length > MOST_COLOURED || !/^\s*[[{]/.test(text)) return <>{plainOf(text)}</>;
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const found of text.matchAll(TOKEN)) {
    const [token, quoted, colon] = found;
    parts.push(plainOf(text.slice(end, found.index)));
    end = found.index + token.length;
    if (quoted === undefined) parts.push(<span class="json-number">{token}</span>);
    else parts.push(<span class={colon ? 'json-name' : 'json-text'}>{plainOf(quoted)}</span>, colon);
  }
  return (
    <>
      {parts}
      {plainOf(text.slice(end))}
    </>
  );
}
