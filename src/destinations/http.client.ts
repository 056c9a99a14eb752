import type { OnApplicationShutdown } from '@nestjs/common';
import { Agent } from 'undici';
import type { AddressPolicy } from './address';
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

/** How long a connection waits for its next request; a receiver's own `keep-alive` hint can only shorten it. */
const IDLE_CONNECTION_MS = 4_000;

/** After this connections are replaced, so that a name that has moved is looked up again. */
const CONNECTION_AGE_MS = 60_000;

/** Far above WEBHOOK_CONCURRENCY: a request that waits for a connection loses time that is not the receiver's fault. */
const CONNECTIONS_PER_ORIGIN = 1_000;

const MAX_HEADER_BYTES = 16 * 1024;

/** Sends POST requests to destinations that the policy allows, within bounds that no receiver can widen. */
export class HttpClient implements OnApplicationShutdown {
  private readonly resolver: NameResolver;
  private readonly connector: Connector;
  private agent: Agent;
  private agentExpiresAt: number;
  private retiredAgents: readonly Agent[] = [];
  /** Opens a connection for every request: for the one repeat that a stale connection costs. */
  private readonly freshAgent: Agent;

  constructor(private readonly options: HttpClientOptions) {
    this.resolver = new NameResolver(options.dnsServers, options.timeoutMs);
    this.connector = new Connector({ ...options, resolver: this.resolver });
    this.agent = this.newAgent({ pipelining: 1 });
    this.agentExpiresAt = performance.now() + CONNECTION_AGE_MS;
    this.freshAgent = this.newAgent({ pipelining: 0 });
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
    const end = await this.exchange(this.agentAt(startedAt), judged.url, request, startedAt);
    if (end.kind !== 'lost') return end;
    const repeated = await this.exchange(this.freshAgent, judged.url, request, startedAt);
    if (repeated.kind !== 'lost') return repeated;
    return { kind: 'failure', code: 'connection_reset', durationMs: Math.round(performance.now() - startedAt) };
  }

  async onApplicationShutdown(): Promise<void> {
    this.agentExpiresAt = Infinity;
    const agents = [this.agent, this.freshAgent, ...this.retiredAgents];
    // First the requests, then their names: what is under way ends as our fault, not as a name that was not found.
    const ended = Promise.all(agents.map((agent) => agent.destroy()));
    this.resolver.close();
    await ended;
  }

  /** The shared agent; an old one only finishes what it has begun. (undici's `clientTtl` costs 30 µs a request.) */
  private agentAt(now: number): Agent {
    if (now >= this.agentExpiresAt) {
      this.agent.close(() => undefined);
      this.retiredAgents = [this.agent];
      this.agent = this.newAgent({ pipelining: 1 });
      this.agentExpiresAt = now + CONNECTION_AGE_MS;
    }
    return this.agent;
  }

  private exchange(agent: Agent, url: URL, request: PreparedRequest, startedAt: number): Promise<ExchangeEnd> {
    return new Promise((resolve, reject) => {
      const deadlineAt = startedAt + this.options.timeoutMs;
      agent.dispatch(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method: 'POST',
          headers: request.headers,
          body: request.body,
        },
        new Exchange({ startedAt, deadlineAt, connector: this.connector, resolve, reject }),
      );
    });
  }

  private newAgent(options: Agent.Options): Agent {
    return new Agent({
      connect: this.connector.connect,
      connections: CONNECTIONS_PER_ORIGIN,
      allowH2: false,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      keepAliveMaxTimeout: IDLE_CONNECTION_MS,
      keepAliveTimeoutThreshold: 1_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The exchange has its own deadlines: these would start anew with every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...options,
    });
  }
}
