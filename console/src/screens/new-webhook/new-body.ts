import { optionalNumber } from '../../parts/optional-number';

export type Kind = 'push' | 'pull';

/** What one enters about a new webhook. Fields of the other kind stay, and are not sent. */
export interface Entered {
  kind: Kind;
  url: string;
  events: readonly string[];
  secret: string;
  description: string;
  /** Of a pull webhook; a number or an empty text. */
  idleSeconds: string;
}

/** Returns the request that creates the webhook, without fields that are empty or of the other kind. */
export function bodyOf({ kind, url, events, secret, description, idleSeconds }: Entered) {
  const idle = optionalNumber(idleSeconds);
  return {
    ...(kind === 'push' ? { url } : { kind, ...(idle !== null && { idleSeconds: idle }) }),
    ...{ events, ...(secret && { secret }), ...(description && { description }) },
  };
}
