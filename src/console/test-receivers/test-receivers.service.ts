import { randomBytes } from 'node:crypto';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { WebhookLifecycleService } from '../../webhooks/webhook-lifecycle.service';
import { Config } from '../../infrastructure/config/config';
import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';
import { HOUR_MS } from '../../infrastructure/config/durations';

/** URLs of test receivers. The id is the only part that tells them apart: the port changes with a setting. */
const DISABLE = `
  update webhook_service.webhooks
  set active = false, disabled_reason = 'receiver_gone', disabled_at = now(), updated_at = now()
  where active and url ~ '^http://(127[.][0-9.]+|\\[::1\\])(:[0-9]+)?/try/[0-9a-f]{32}$' and right(url, 32) <> all($1::text[])
  returning id`;

@Injectable()
export class GoneReceiversService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly lifecycle: WebhookLifecycleService,
  ) {}

  /** Disables webhooks of all test receivers but these, and cancels their pending deliveries. */
  async disableAllBut(receiverIds: readonly string[]): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      const [webhooks] = await manager.query<[{ id: string }[], number]>(DISABLE, [receiverIds]);
      for (const { id } of webhooks) await this.lifecycle.disabled(manager, id);
    });
  }
}

/** Responses of a test receiver; `silent`: none, until the client gives up. */
export const TRY_ANSWERS = [200, 500, 410, 'silent'] as const;
export type TryAnswer = (typeof TRY_ANSWERS)[number];

export interface TriedRequest {
  receivedAt: Date;
  headers: Readonly<Record<string, string | string[]>>;
  /** The first 64 KiB, without control characters. */
  body: string;
  bodyTruncated: boolean;
  answer: TryAnswer;
}

/** A test receiver. It is kept in memory for an hour. */
export interface TryReceiver {
  id: string;
  userId: string;
  answer: TryAnswer;
  expiresAt: Date;
  /** Newest first, at most 20. */
  requests: TriedRequest[];
}

const LIVES_MS = HOUR_MS;
const MAX_RECEIVERS = 20;
const MAX_REQUESTS = 20;
const MAX_SILENT = 20;

/** Test receivers, which exist only where the service runs on its user's machine. */
@Injectable()
export class TryReceiversService implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(TryReceiversService.name);
  private readonly receivers = new Map<string, TryReceiver>();
  private readonly expiries = new Set<NodeJS.Timeout>();
  private readonly silent = new Set<() => void>();

  constructor(
    private readonly config: Config,
    private readonly gone: GoneReceiversService,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.config.isLocal) await this.gone.disableAllBut([]);
  }

  onModuleDestroy(): void {
    for (const expiry of this.expiries) clearTimeout(expiry);
    for (const end of this.silent) end();
  }

  /** Returns a new test receiver, or the existing one of the user. */
  create(userId: string): { receiver: TryReceiver; isNew: boolean } {
    this.requireLocal();
    const known = [...this.receivers.values()].find((receiver) => receiver.userId === userId);
    if (known) return { receiver: known, isNew: false };
    if (this.receivers.size >= MAX_RECEIVERS)
      throw new ApiError('test_receiver_limit_reached', MESSAGES.tooManyTryReceivers);
    const id = randomBytes(16).toString('hex');
    const expiresAt = new Date(Date.now() + LIVES_MS);
    const receiver: TryReceiver = { id, userId, answer: 200, expiresAt, requests: [] };
    this.receivers.set(id, receiver);
    const expiry = setTimeout(() => {
      this.expiries.delete(expiry);
      void this.expire(id);
    }, LIVES_MS).unref();
    this.expiries.add(expiry);
    return { receiver, isNew: true };
  }

  read(userId: string, id: string): TryReceiver {
    this.requireLocal();
    const receiver = this.find(id);
    if (receiver?.userId !== userId) throw new ApiError('not_found', MESSAGES.tryReceiverNotFound);
    return receiver;
  }

  setAnswer(userId: string, id: string, answer: TryAnswer): TryReceiver {
    const receiver = this.read(userId, id);
    receiver.answer = answer;
    return receiver;
  }

  /** Returns the test receiver of any user with this id; undefined if it does not exist or has expired. */
  find(id: string): TryReceiver | undefined {
    return this.receivers.get(id);
  }

  note(receiver: TryReceiver, request: Omit<TriedRequest, 'answer'>): TryAnswer {
    const { answer } = receiver;
    receiver.requests = [{ ...request, answer }, ...receiver.requests].slice(0, MAX_REQUESTS);
    return answer;
  }

  /** Resolves when the client disconnects or the service stops; at once when 20 requests are already waiting. */
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
    if (!this.config.isLocal) throw new ApiError('not_found', MESSAGES.noTryReceivers);
  }

  private async expire(id: string): Promise<void> {
    this.receivers.delete(id);
    try {
      await this.gone.disableAllBut([...this.receivers.keys()]);
    } catch (error) {
      this.logger.warn({ msg: 'webhooks of an expired test receiver stay active until the next start', err: error });
    }
  }
}
