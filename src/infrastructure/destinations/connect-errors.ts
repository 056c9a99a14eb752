/** No connection was established, so nothing was sent. undici reports errors of idle connections in the same way. */
export abstract class NotConnectedError extends Error {}

/** No address of the destination is allowed. `rule` names the kind of network. */
export class DestinationBlockedError extends NotConnectedError {
  constructor(readonly rule: string) {
    super('the destination is not allowed');
  }
}

/** DNS has no address for the name, or its servers failed. */
export class NameNotFoundError extends NotConnectedError {
  constructor() {
    super('the name does not resolve');
  }
}

/** DNS did not respond in time. */
export class ResolveTimeoutError extends NotConnectedError {
  constructor() {
    super('the name did not resolve in time');
  }
}

/** TCP or TLS failed. `cause` is the error of the system or of OpenSSL. */
export class ConnectError extends NotConnectedError {
  constructor(override readonly cause: Error) {
    super('no connection');
  }
}

/**
 * The egress proxy could not be used: it could not be reached or trusted, requires other credentials, or returned no valid
 * response. `cause` never contains bytes of that response.
 */
export class ProxyFailedError extends ConnectError {}

/** The egress proxy works, but did not connect to the destination. */
export class ProxyRefusedError extends NotConnectedError {
  constructor() {
    super('the proxy refused');
  }
}
