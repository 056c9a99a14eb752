import type { OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { context, createContextKey, ROOT_CONTEXT } from '@opentelemetry/api';
import { type Connection, Connections } from './connections.client';
import { Connector, type ConnectorOptions } from './connector.client';
import {
  type BodyBounds,
  type ExchangeEnd,
  HttpExchange,
  type HttpResult,
  type PreparedGet,
  type PreparedRequest,
} from './exchange.client';
import { NameResolver, type SystemFiles } from './resolver.client';
import { type StoredUrlVerdict, validateStoredUrl } from './url';

/** As `suppressTracing` of `@opentelemetry/core` sets it. The key is the same for all of its versions. */
const UNTRACED = ROOT_CONTEXT.setValue(createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING'), true);

/** Makes an outgoing request that no instrumentation records, with its url, or adds headers to. */
export function untraced<T>(request: () => T): T {
  return context.with(UNTRACED, request);
}

export interface HttpClientOptions extends Omit<ConnectorOptions, 'resolver'> {
  /** As `address[:port]`; empty uses those of the system. */
  readonly dnsServers: readonly string[];
  /** Those of the system unless they are given. */
  readonly systemFiles?: SystemFiles;
  /** One deadline for DNS, connect, TLS and the status line. A request may have a shorter one. */
  readonly timeoutMs: number;
  readonly requireHttps: boolean;
}

/** For the response to a delivery: only its beginning is logged. */
const EXCERPT: BodyBounds = { maxKeptBytes: 4 * 1024, maxReadBytes: 64 * 1024, timeoutMs: 1000 };

/** For the response to a GET: all of it is needed. */
const DOCUMENT: BodyBounds = { maxKeptBytes: 4 * 1024 * 1024, maxReadBytes: 4 * 1024 * 1024, timeoutMs: 15_000 };

/** In bytes, approximately: the results for about ten thousand urls. */
const MAX_VALIDATED = 8 * 1024 * 1024;

interface Outgoing {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly bounds: BodyBounds;
  readonly timeoutMs?: number;
}

/** Sends requests to destinations that the policy allows, within limits that a receiver cannot extend. */
export class HttpClient implements OnApplicationShutdown {
  private readonly resolver: NameResolver;
  private readonly connector: Connector;
  private readonly connections: Connections;
  /** The result for a url never changes, because policy and options last as long as the client. */
  private readonly validated = new LRUCache<string, StoredUrlVerdict>({
    maxSize: MAX_VALIDATED,
    sizeCalculation: (_, url) => 500 + 4 * url.length,
    memoMethod: (url) => validateStoredUrl(url, this.options.policy, this.options),
  });

  constructor(private readonly options: HttpClientOptions) {
    this.resolver = new NameResolver(options.dnsServers, options.timeoutMs, options.systemFiles);
    this.connector = new Connector({ ...options, resolver: this.resolver });
    this.connections = new Connections(this.connector.connect);
  }

  /**
   * Sends one request and reads its response within the limits. Follows no redirects and decompresses nothing. Errors
   * of the receiver or the network are results; it rejects only for errors of this process. When a reused connection
   * turns out to be closed, the request is retried once, immediately, within the same deadline.
   * @param timeoutMs the deadline of this request, at most that of the client
   */
  post({ url, headers, body }: PreparedRequest, timeoutMs?: number): Promise<HttpResult> {
    return this.send({ url, headers, body, method: 'POST', bounds: EXCERPT, timeoutMs });
  }

  /** Like `post`, but reads up to 4 MiB of body, within 15 s after the status line. */
  get(request: PreparedGet): Promise<HttpResult> {
    const headers = { ...request.headers, 'accept-encoding': 'identity' };
    return this.send({ url: request.url, headers, method: 'GET', bounds: DOCUMENT });
  }

  async onApplicationShutdown(): Promise<void> {
    // Close requests before names: a request in flight must end as an error of this process, not as an unknown name.
    const closed = this.connections.close();
    this.resolver.close();
    await closed;
  }

  private async send(request: Outgoing): Promise<HttpResult> {
    const startedAt = performance.now();
    const validated = this.validated.memo(request.url);
    if (!validated.ok) return { kind: 'failure', code: 'destination_blocked', rule: validated.rule, durationMs: 0 };
    const { origin } = validated.url;
    const end = await this.exchange(this.connections.take(origin, startedAt), validated.url, request, startedAt);
    if (end.kind !== 'lost') return end;
    const repeated = await this.exchange(this.connections.open(origin, startedAt), validated.url, request, startedAt);
    if (repeated.kind !== 'lost') return repeated;
    return { kind: 'failure', code: 'connection_reset', durationMs: Math.round(performance.now() - startedAt) };
  }

  private exchange(connection: Connection, url: URL, request: Outgoing, startedAt: number): Promise<ExchangeEnd> {
    const { connections, connector } = this;
    const { method, headers, body, bounds, timeoutMs = this.options.timeoutMs } = request;
    const deadlineAt = startedAt + timeoutMs;
    return new Promise((resolve, reject) => {
      const outgoing = { path: url.href.slice(url.origin.length), method, headers, body };
      const isStatusEnough = method === 'POST';
      const options = {
        startedAt,
        deadlineAt,
        body: bounds,
        isStatusEnough,
        connection,
        connections,
        connector,
        resolve,
        reject,
      };
      untraced(() => connection.dispatch(outgoing, new HttpExchange(options)));
    });
  }
}
