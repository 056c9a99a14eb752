import { frameAncestors } from './page-settings';
import type { Scope } from './types';

/** True in a frame. The host page around it then decides who is signed in. */
export const isFramed = window.parent !== window;

/** A message to the host page. The console handles none itself. */
export type FrameMessage = { type: 'webhooks:session-ended' } | { type: 'webhooks:height'; height: number };

/** The possible origins of the host page: Chromium and Safari name the one, in Firefox it is any allowed one. */
function hostOrigins(): readonly string[] {
  const [parent] = 'ancestorOrigins' in location ? [...location.ancestorOrigins] : [];
  return parent === undefined ? frameAncestors : frameAncestors.filter((origin) => origin === parent);
}

export function tellHost(message: FrameMessage): void {
  for (const origin of hostOrigins()) window.parent.postMessage(message, origin);
}

/** Tells the host page the height of the content in CSS pixels, now and after each change. */
export function reportHeight(): void {
  const root = document.documentElement;
  new ResizeObserver(() => tellHost({ type: 'webhooks:height', height: Math.ceil(root.offsetHeight) })).observe(root);
}

const REFUSED = /^(tokens:manage|users:.+|event-types:manage|events:broadcast)$/;

/** Returns the scopes that a session in a frame must not have, because they affect more than its user. */
export const refusedInFrame = (scopes: readonly Scope[]): Scope[] => scopes.filter((scope) => REFUSED.test(scope));
