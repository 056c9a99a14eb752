import type { NetworkInterfaceInfo } from 'node:os';
import {
  ConnectError,
  DestinationBlockedError,
  failureCode,
  isOffline,
  NameNotFoundError,
  NameServersFailedError,
  ProxyFailedError,
  ProxyRefusedError,
  ResolveTimeoutError,
  tlsFault,
} from './failure';

const withCode = (code: string, message = '') => Object.assign(new Error(message), { code });

describe('failureCode', () => {
  it('recognizes the errors of this service', () => {
    expect(failureCode(new DestinationBlockedError('loopback'))).toBe('destination_blocked');
    expect(failureCode(new NameNotFoundError())).toBe('dns_not_found');
    expect(failureCode(new NameServersFailedError())).toBe('dns_failed');
    expect(failureCode(new ResolveTimeoutError())).toBe('timeout');
    expect(failureCode(new ProxyRefusedError())).toBe('unreachable');
  });

  it.each(['ECONNREFUSED', 'ETIMEDOUT', 'ENOTFOUND', 'CERT_HAS_EXPIRED', 'HPE_INVALID_CONSTANT', ''])(
    'maps %s at the egress proxy to proxy_failed',
    (code) => {
      expect(failureCode(new ProxyFailedError(withCode(code)))).toBe('proxy_failed');
    },
  );

  it.each([
    ['ECONNREFUSED', 'connection_refused'],
    ['ECONNRESET', 'connection_reset'],
    ['ETIMEDOUT', 'timeout'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['EHOSTUNREACH', 'unreachable'],
    ['ENETUNREACH', 'unreachable'],
    ['EADDRNOTAVAIL', 'unreachable'],
    ['EACCES', 'unreachable'],
    ['EPROTO', 'tls_invalid'],
    ['CERT_HAS_EXPIRED', 'tls_invalid'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_invalid'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_invalid'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_invalid'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls_invalid'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'tls_invalid'],
  ])('maps %s while connecting to %s', (code, expected) => {
    expect(failureCode(new ConnectError(withCode(code)))).toBe(expected);
  });

  it.each([
    ['ECONNRESET', '', 'connection_reset'],
    ['EPIPE', '', 'connection_reset'],
    ['UND_ERR_SOCKET', 'other side closed', 'connection_reset'],
    ['UND_ERR_SOCKET', 'closed', 'connection_reset'],
    ['UND_ERR_SOCKET', 'bad response', 'invalid_response'],
    ['UND_ERR_SOCKET', 'bad upgrade', 'invalid_response'],
    ['UND_ERR_HEADERS_OVERFLOW', '', 'invalid_response'],
    ['HPE_INVALID_CONSTANT', '', 'invalid_response'],
    ['ERR_ASSERTION', '', 'invalid_response'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', '', 'tls_invalid'],
  ])('maps %s %s on a connection to %s', (code, message, expected) => {
    expect(failureCode(withCode(code, message))).toBe(expected);
  });

  it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])('maps %s to service_failed, also at the egress proxy', (code) => {
    for (const error of [withCode(code), new ConnectError(withCode(code)), new ProxyFailedError(withCode(code))])
      expect(failureCode(error)).toBe('service_failed');
  });

  it.each([
    ['192.0.2.1', 'service_failed'],
    ['2001:db8::1', 'unreachable'],
  ])('maps a lack of local ports for %s to %s', (address, code) => {
    const error = Object.assign(withCode('EADDRNOTAVAIL'), { address });
    expect(failureCode(new ConnectError(error))).toBe(code);
  });

  it.each(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED', 'UND_ERR_INVALID_ARG'])(
    'has no code for an error of this process: %s',
    (code) => {
      expect(failureCode(withCode(code))).toBeUndefined();
      expect(failureCode(new ConnectError(withCode(code)))).toBeUndefined();
      expect(failureCode(new ProxyFailedError(withCode(code)))).toBeUndefined();
    },
  );
});

describe('isOffline', () => {
  const address = (internal: boolean) => ({ internal }) as NetworkInterfaceInfo;
  it.each([
    [true, {}],
    [true, { lo: [address(true), address(true)], eth0: [] }],
    [false, { lo: [address(true)], eth0: [address(false)] }],
  ])('is %s with %j', (expected, interfaces) => {
    expect(isOffline(interfaces)).toBe(expected);
  });
});

describe('tlsFault', () => {
  it.each([
    ['CERT_HAS_EXPIRED', 'expired'],
    ['CERT_NOT_YET_VALID', 'not_yet_valid'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'wrong_host'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self_signed'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'self_signed'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'incomplete_chain'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'incomplete_chain'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'no_tls'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'client_certificate'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'handshake'],
    ['EPROTO', 'handshake'],
    ['CERT_REVOKED', undefined],
    ['', undefined],
  ])('maps %s to %s', (code, expected) => {
    expect(tlsFault(withCode(code))).toBe(expected);
    expect(tlsFault(new ConnectError(withCode(code)))).toBe(expected);
  });
});
