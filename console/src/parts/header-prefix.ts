const OWN = 'x-service';

/** Returns the name that a header of the service has under its prefix. */
export const prefixed = (name: string, prefix = OWN): string =>
  name.startsWith(`${OWN}-`) ? `${prefix}${name.slice(OWN.length)}` : name;

/** Returns headers with the service's own names for those under one of its prefixes. */
export const withOwnNames = (headers: Record<string, string>, prefixes: readonly string[]): Record<string, string> => {
  const own = Object.entries(headers).map(([name, value]) => {
    const prefix = prefixes.find((each) => name.startsWith(`${each}-`));
    return [prefix === undefined ? name : `${OWN}${name.slice(prefix.length)}`, value];
  });
  return { ...(Object.fromEntries(own) as Record<string, string>), ...headers };
};
