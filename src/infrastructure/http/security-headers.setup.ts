import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/** One policy for all responses. The API loads nothing; Swagger UI loads only from here, and has styles in its page. */
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
  // The service uses plain HTTP. The TLS proxy knows the domain and sets this header.
  strictTransportSecurity: false,
});

/** Security headers of every response, by name. They never change, so helmet runs only once. */
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
