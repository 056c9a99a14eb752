import { type ApiPath, apiUrlOf, type Query } from './address';
import type { Fault, Page } from './types';

const TIMEOUT_MS = 15_000;

/** Why a call has failed, in the words of the service. `status` 0: it could not be reached. */
export class CallError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly requestId: string | null = null,
    /** Seconds after which it makes sense to try again. */
    readonly retryAfter: number | null = null,
    /** The service's code for the cause; null when the answer was not one of the service. */
    readonly code: string | null = null,
    /** The invalid fields of the request. */
    readonly details: readonly Fault[] = [],
  ) {
    super(message);
  }
}

export interface CallOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  /** How long an answer may take; requests that wait need longer. */
  timeoutMs?: number;
  /** The request goes on when the page is left. */
  keepalive?: boolean;
}

export interface Answer<T> {
  data: T;
  nextCursor?: string | null;
  status: number;
}

/** Sends requests with one token. */
export class Api {
  constructor(
    private readonly token: string | null,
    private readonly onUnauthenticated: () => void = () => undefined,
  ) {}

  async get<T>(path: ApiPath, query?: Query, signal?: AbortSignal): Promise<T> {
    return (await this.call<T>('GET', path, { query, signal })).data;
  }

  async page<T>(path: ApiPath, query?: Query, options: CallOptions = {}): Promise<Page<T>> {
    const { data, nextCursor = null } = await this.call<T[]>('GET', path, { ...options, query });
    return { rows: data, nextCursor };
  }

  async send<T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: ApiPath, body?: unknown): Promise<T> {
    return (await this.call<T>(method, path, { body })).data;
  }

  /** @throws CallError */
  async call<T>(method: string, path: ApiPath, options: CallOptions = {}): Promise<Answer<T>> {
    const response = await this.fetch(method, path, options);
    const requestId = response.headers.get('x-request-id');
    const answer = (await response.json().catch(() => null)) as
      (Answer<T> & { success: boolean; error: string; code?: string; details?: Fault[] }) | null;
    if (response.ok && answer?.success) return { ...answer, status: response.status };
    if (response.status === 401) this.onUnauthenticated();
    const retryAfter = Number(response.headers.get('retry-after')) || null;
    const message = answer?.error ?? `The answer was not one of this service (status ${response.status}).`;
    const { code = null, details } = answer ?? {};
    throw new CallError(answer ? response.status : 0, message, requestId, retryAfter, code, details);
  }

  private async fetch(method: string, path: ApiPath, options: CallOptions): Promise<Response> {
    const { query, body, signal, timeoutMs = TIMEOUT_MS, keepalive } = options;
    const late = AbortSignal.timeout(timeoutMs);
    try {
      return await fetch(apiUrlOf(path, query), {
        method,
        headers: {
          ...(this.token && { authorization: `Bearer ${this.token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: signal ? AbortSignal.any([signal, late]) : late,
        cache: 'no-store',
        credentials: 'omit',
        keepalive,
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new CallError(0, late.aborted ? 'The service has not answered in time.' : 'The service cannot be reached.');
    }
  }
}
