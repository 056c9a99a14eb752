import { useState } from 'preact/hooks';
import { ofBrowser } from '../api/storage';

const KEY = 'webhooks.theme';
const DEFAULT = 'light dark';

const apply = (theme: string): void => void (document.documentElement.style.colorScheme = theme);

/** The scheme that this browser shows; no secret, so it may outlive the tab. */
export function useTheme(): [string, (next: string) => void] {
  const [theme, setTheme] = useState(() => {
    const kept = ofBrowser.getItem(KEY) ?? DEFAULT;
    apply(kept);
    return kept;
  });
  const change = (next: string) => {
    ofBrowser.setItem(KEY, next);
    apply(next);
    setTheme(next);
  };
  return [theme, change];
}
