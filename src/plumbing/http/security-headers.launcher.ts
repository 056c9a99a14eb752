import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/** One policy for all: answers of the API load nothing, and Swagger UI loads what comes from here, with styles in its page. */
const setSecurityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  xFrameOptions: { action: 'deny' },
  // We speak plain HTTP: this is for the TLS proxy to say, who knows the domain.
  strictTransportSecurity: false,
});

/** The headers of every answer by their names. They are always the same, so helmet is asked once. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = securityHeaders();

function securityHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  const answer: Partial<ServerResponse> = {
    setHeader: (name, value) => {
      headers[name.toLowerCase()] = String(value);
      return answer as ServerResponse;
    },
    removeHeader: () => undefined,
  };
  setSecurityHeaders({} as IncomingMessage, answer as ServerResponse, () => undefined);
  return headers;
}
