/** Is this one of the routes that need a token and answer in the envelope? Undefined: no route at all. */
export const isApiRoute = (route: string | undefined): boolean => route?.startsWith('/api/') ?? false;
