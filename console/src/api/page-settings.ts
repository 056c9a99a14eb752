const settingOf = (name: string): string =>
  document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? '';

/** The name that the operator has given the console. */
export const consoleName = settingOf('application-name');

/** The origins whose pages may show the console in a frame. */
export const frameAncestors = settingOf('frame-ancestors').split(' ').filter(Boolean);
