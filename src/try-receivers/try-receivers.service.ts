import { randomBytes } from 'node:crypto';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../plumbing/config/config';
import { ApiError } from '../plumbing/errors/api-error';
import { MESSAGES } from '../plumbing/errors/messages';

/** What a receiver answers; `silent`: nothing, until the client gives up. */
export const TRY_ANSWERS = [200, 500, 410, 'silent'] as const;
export type TryAnswer = (typeof TRY_ANSWERS)[number];

/** A request as it came in. */
export interface TriedRequest {
  receivedAt: Date;
  headers: Readonly<Record<string, string | string[]>>;
  /** The first 64 KiB, without control characters. */
  body: string;
  bodyTruncated: boolean;
  answer: TryAnswer;
}

/** A receiver to try deliveries with. It lives in memory, for an hour. */
export interface TryReceiver {
  id: string;
  userId: string;
  answer: TryAnswer;
  expiresAt: Date;
  /** The newest first, at most 20. */
  requests: TriedRequest[];
}

const LIVES_MS = 3_600_000;
const MAX_RECEIVERS = 20;
const MAX_REQUESTS = 20;
const MAX_SILENT = 20;

/** Receivers to try deliveries with, where the service runs on the machine of who tries it. */
@Injectable()
export class TryReceiversService implements OnApplicationShutdown {
  private readonly receivers = new Map<string, TryReceiver>();
  private readonly silent = new Set<() => void>();

  constructor(private readonly config: Config) {}

  onApplicationShutdown(): void {
    this.stop();
  }

  /** Ends the requests that were met with silence. */
  stop(): void {
    for (const end of this.silent) end();
  }

  /**
   * A new receiver, or the one that the user has.
   * @throws ApiError 404 where the service does not run on the machine of its user; 409 when 20 users have one
   */
  create(userId: string): { receiver: TryReceiver; isNew: boolean } {
    this.requireLocal();
    this.forgetExpired();
    const known = [...this.receivers.values()].find((receiver) => receiver.userId === userId);
    if (known) return { receiver: known, isNew: false };
    if (this.receivers.size >= MAX_RECEIVERS) throw new ApiError(409, MESSAGES.tooManyTryReceivers);
    const id = randomBytes(16).toString('hex');
    const expiresAt = new Date(Date.now() + LIVES_MS);
    const receiver: TryReceiver = { id, userId, answer: 200, expiresAt, requests: [] };
    this.receivers.set(id, receiver);
    return { receiver, isNew: true };
  }

  /** @throws ApiError 404 when the user has no such receiver */
  read(userId: string, id: string): TryReceiver {
    this.requireLocal();
    const receiver = this.find(id);
    if (receiver?.userId !== userId) throw new ApiError(404, MESSAGES.tryReceiverNotFound);
    return receiver;
  }

  /** Sets what it answers from now on. @throws ApiError 404 when the user has no such receiver */
  setAnswer(userId: string, id: string, answer: TryAnswer): TryReceiver {
    const receiver = this.read(userId, id);
    receiver.answer = answer;
    return receiver;
  }

  /** The receiver of any user with this id; undefined: there is none, or its hour is over. */
  find(id: string): TryReceiver | undefined {
    this.forgetExpired();
    return this.receivers.get(id);
  }

  /** Takes note of a request. */
  note(receiver: TryReceiver, request: Omit<TriedRequest, 'answer'>): TryAnswer {
    const { answer } = receiver;
    receiver.requests = [{ ...request, answer }, ...receiver.requests].slice(0, MAX_REQUESTS);
    return answer;
  }

  /** Resolves when the client has gone, or the service stops; at once when 20 requests wait already. */
  async stayAway(gone: AbortSignal): Promise<void> {
    if (this.silent.size >= MAX_SILENT || gone.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        this.silent.delete(end);
        resolve();
      };
      this.silent.add(end);
      gone.addEventListener('abort', end, { once: true });
    });
  }

  private requireLocal(): void {
    if (!this.config.isLocal) throw new ApiError(404, MESSAGES.noTryReceivers);
  }

  private forgetExpired(): void {
    for (const { id, expiresAt } of this.receivers.values()) {
      if (expiresAt.getTime() <= Date.now()) this.receivers.delete(id);
    }
  }
}
