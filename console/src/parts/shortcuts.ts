import { useEffect, useRef } from 'preact/hooks';
import { ofBrowser } from '../api/storage';
import { Shared, useShared } from './shared';

const KEY = 'webhooks.shortcuts';
const areOn = new Shared(ofBrowser.getItem(KEY) !== 'false');

/** Whether single keys do something, and a way to change it. */
export function useShortcutsSwitch(): [boolean, (next: boolean) => void] {
  const change = (next: boolean) => {
    ofBrowser.setItem(KEY, String(next));
    areOn.set(next);
  };
  return [useShared(areOn), change];
}

const TAKES_TEXT = 'input, textarea, select, [contenteditable], dialog *';

/** Calls the function of a key, such as `j`, unless it is part of a text or a command of the browser. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const act = current.current[event.key];
      // Inside of a shadow root, such as that of an editor, the target is the root's host.
      const [target] = event.composedPath();
      if (!act || !areOn.value || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (target instanceof Element && target.matches(TAKES_TEXT)) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}
