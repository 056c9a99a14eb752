type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** The storage of the browser; where that is blocked, as it can be in a frame of another site, one that ends with the page. */
function storageOf(name: 'localStorage' | 'sessionStorage'): Kept {
  try {
    return window[name];
  } catch {
    const kept = new Map<string, string>();
    return {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    };
  }
}

/** For everything of this origin; no secrets. */
export const ofBrowser = storageOf('localStorage');
/** Dies with the tab. */
export const inTab = storageOf('sessionStorage');
