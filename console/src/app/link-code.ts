const CODE = /^#code=([A-Za-z0-9_-]{43})$/;

export const hasCode = (): boolean => location.hash.startsWith('#code=');

/** The code of a link, which is taken out of the address and of the history at once; null without one. */
export function takeCode(): string | null {
  const [, code = null] = CODE.exec(location.hash) ?? [];
  if (hasCode()) history.replaceState(null, '', location.pathname + location.search);
  return code;
}
