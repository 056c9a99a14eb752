/** True for the routes that need a token and answer in the envelope. Undefined stands for a request without a route. */
export const isApiRoute = (route: string | undefined): boolean => route?.startsWith('/api/') ?? false;
