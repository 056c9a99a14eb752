/**
 * Headers of the connection, of the service and its signatures, of proxies, and those by which frameworks change a request:
 * an owner must not set them. A name that ends with `*` is a prefix.
 */
const REFUSED = [
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'host', 'date', 'via'],
  ...['forwarded', 'content-*', 'accept-encoding', 'range', 'max-forwards', 'user-agent', 'cookie', 'set-cookie'],
  ...['traceparent', 'tracestate', 'baggage', 'b3', 'x-b3-*', 'metadata', 'metadata-flavor', 'x-aws-ec2-metadata-*'],
  ...['x-http-method*', 'x-method-override', 'x-original-url', 'x-rewrite-url', 'x-real-ip', 'x-client-ip'],
  ...['true-client-ip', 'cf-*', 'x-envoy-*', 'x-auth-request-*', 'remote-user', 'x-request-id', 'x-service-*'],
  ...['webhook-*', 'svix-*', 'proxy-*', 'x-forwarded-*'],
];

export function isRefused(name: string): boolean {
  const lower = name.toLowerCase();
  return REFUSED.some((rule) => (rule.endsWith('*') ? lower.startsWith(rule.slice(0, -1)) : lower === rule));
}

/** Whether a refused header begins with this prefix and a hyphen, or could. */
export function isRefusedPrefix(prefix: string): boolean {
  const start = `${prefix}-`;
  return REFUSED.some((rule) => rule.startsWith(start) || (rule.endsWith('*') && start.startsWith(rule.slice(0, -1))));
}
