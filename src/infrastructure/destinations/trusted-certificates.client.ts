import * as tls from 'node:tls';

/** Returns those of `NODE_EXTRA_CA_CERTS`, too. Node.js 20 does not have it, nor another way to keep them. */
const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] };

/** Returns what trusts these PEM certificates besides Node's own. Make it once: it parses more than a hundred certificates. */
export const trusting = (certificates: readonly string[]): tls.SecureContext =>
  tls.createSecureContext({ ca: [...(getCACertificates?.('default') ?? tls.rootCertificates), ...certificates] });
