/** True for the routes that require a token and use the envelope. Undefined stands for a request without a route. */
export const isApiRoute = (route: string | undefined): boolean => route?.startsWith('/api/') ?? false;
