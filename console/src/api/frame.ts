import { frameAncestors } from './page-settings';
import type { Scope } from './types';

/** True in a frame of a page, such as one of a host application. Its page then decides who is signed in. */
export const isFramed = window.parent !== window;

/** What the console tells the page around it. It listens to nothing. */
export type FrameMessage = { type: 'webhooks:session-ended' } | { type: 'webhooks:height'; height: number };

/** The page around may only be one of these origins. Chromium and Safari say which. */
function hostOrigins(): readonly string[] {
  const [parent] = 'ancestorOrigins' in location ? [...location.ancestorOrigins] : [];
  return parent === undefined ? frameAncestors : frameAncestors.filter((origin) => origin === parent);
}

export function tellHost(message: FrameMessage): void {
  for (const origin of hostOrigins()) window.parent.postMessage(message, origin);
}

/** Tells the page around the height of the content in CSS pixels, now and after each change. */
export function reportHeight(): void {
  const root = document.documentElement;
  new ResizeObserver(() => tellHost({ type: 'webhooks:height', height: Math.ceil(root.offsetHeight) })).observe(root);
}

const REFUSED = /^(tokens:manage|users:.+|event-types:manage|events:broadcast)$/;

/** Returns the scopes that a session in a frame may not have: what they do reaches beyond its user. */
export const refusedInFrame = (scopes: readonly Scope[]): Scope[] => scopes.filter((scope) => REFUSED.test(scope));
