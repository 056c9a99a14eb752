import type { OnApplicationShutdown } from '@nestjs/common';
import type { AddressPolicy } from './address';
import { type Connection, Connections } from './connections.client';
import { Connector } from './connector.client';
import { Exchange, type ExchangeEnd } from './exchange.client';
import type { HttpResult, PreparedRequest } from './http-result';
import { NameResolver } from './resolver.client';
import { judgeStoredUrl } from './url';

export interface HttpClientOptions {
  readonly policy: AddressPolicy;
  /** As `address[:port]`; empty means the system's. */
  readonly dnsServers: readonly string[];
  /** One deadline for DNS, connect, TLS and the status line. */
  readonly timeoutMs: number;
  readonly requireHttps: boolean;
  /** PEM certificates that are trusted instead of Node's own. */
  readonly trustedCertificates?: string;
}

/** Sends POST requests to destinations that the policy allows, within bounds that no receiver can widen. */
export class HttpClient implements OnApplicationShutdown {
  private readonly resolver: NameResolver;
  private readonly connector: Connector;
  private readonly connections: Connections;

  constructor(private readonly options: HttpClientOptions) {
    this.resolver = new NameResolver(options.dnsServers, options.timeoutMs);
    this.connector = new Connector({ ...options, resolver: this.resolver });
    this.connections = new Connections(this.connector.connect);
  }

  /**
   * Sends one request and reads what may be read of its answer: redirects are not followed, nothing is decompressed.
   * Whatever the receiver or the network does is a result; it rejects only for faults of this process. A connection
   * that had been used before and is found closed costs one immediate repeat, within the same deadline.
   */
  async post(request: PreparedRequest): Promise<HttpResult> {
    const startedAt = performance.now();
    const judged = judgeStoredUrl(request.url, this.options.policy, this.options);
    if (!judged.ok) return { kind: 'failure', code: 'destination_blocked', rule: judged.rule, durationMs: 0 };
    const { origin } = judged.url;
    const end = await this.exchange(this.connections.take(origin, startedAt), judged.url, request, startedAt);
    if (end.kind !== 'lost') return end;
    const repeated = await this.exchange(this.connections.open(origin, startedAt), judged.url, request, startedAt);
    if (repeated.kind !== 'lost') return repeated;
    return { kind: 'failure', code: 'connection_reset', durationMs: Math.round(performance.now() - startedAt) };
  }

  async onApplicationShutdown(): Promise<void> {
    // First the requests, then their names: what is under way ends as our fault, not as a name that was not found.
    const closed = this.connections.close();
    this.resolver.close();
    await closed;
  }

  private exchange(
    connection: Connection,
    url: URL,
    request: PreparedRequest,
    startedAt: number,
  ): Promise<ExchangeEnd> {
    const { connections, connector } = this;
    const deadlineAt = startedAt + this.options.timeoutMs;
    return new Promise((resolve, reject) => {
      connection.dispatch(
        { path: url.pathname + url.search, method: 'POST', headers: request.headers, body: request.body },
        new Exchange({ startedAt, deadlineAt, connection, connections, connector, resolve, reject }),
      );
    });
  }
}
