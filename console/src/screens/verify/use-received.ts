import { useState } from 'preact/hooks';
import { type SavedRequest, splitRequest } from './saved-request';

/** The body in the form. */
export interface Body {
  bytes: Uint8Array;
  text: string;
  /** The file that it comes from, whose bytes a text field might change; null for typed text. */
  file: string | null;
}

const MOST_BYTES = 1024 * 1024;

const bodyOf = (bytes: Uint8Array, file: string | null): Body => ({
  bytes,
  text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
  file,
});
const typed = (text: string): Body => ({ text, bytes: new TextEncoder().encode(text), file: null });

export type Taken = 'request' | 'body' | 'too_large';

/** The request as the receiver got it: headers as text, and the exact body. */
export function useReceived(first: SavedRequest) {
  const [headers, setHeaders] = useState(first.headers);
  const [body, setBody] = useState(() => bodyOf(first.body, null));

  const set = (next: SavedRequest, file: string | null = null) => {
    setHeaders(next.headers);
    setBody(bodyOf(next.body, file));
  };
  /** Fills both fields when the text is a whole request. Returns whether it is one. */
  const split = (text: string): boolean => {
    const whole = splitRequest(new TextEncoder().encode(text));
    if (whole) set(whole);
    return whole !== null;
  };
  const takeFile = async (file: File): Promise<Taken> => {
    if (file.size > MOST_BYTES) return 'too_large';
    const bytes = new Uint8Array(await file.arrayBuffer());
    const whole = splitRequest(bytes);
    if (whole) set(whole, file.name);
    else setBody(bodyOf(bytes, file.name));
    return whole ? 'request' : 'body';
  };
  return {
    headers,
    body,
    set,
    setHeaders,
    setText: (text: string) => setBody(typed(text)),
    split,
    takeFile,
    editAsText: () => setBody(typed(body.text)),
  };
}
