import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/access-token';
import { UserSharesService } from '../../auth/limits/user-shares.service';
import { childTraceparent } from '../../events/traceparent';
import { Config } from '../../infrastructure/config/config';
import { KeyedMutex } from '../../infrastructure/concurrency/keyed-mutex';
import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';
import { WebhooksService } from '../../webhooks/webhooks.service';
import type { Formatted } from '../rows/attempt';
import { ClaimsRepository, type LeasedDelivery } from '../rows/claims.repository';
import { keptBody, RequestSignerService } from '../sending/request-signer.service';
import type { Acknowledgement } from './acknowledgement';
import { ConsumersService } from './consumers.service';
import type { AcknowledgedLeasesDto, LeaseRequestDto, MessageDto } from './dto/message.dto';
import { formatLeaseId, type LeaseKey, leaseKeyOf, parseLeaseId } from '../rows/lease';
import { type Ended, SettlementsService } from './settlements.service';

/** The bodies of one response, unless `EVENT_MAX_BYTES` was lowered since they were stored. */
const MAX_BYTES = 10 * 1_048_576;
/** An acknowledgement waits this long for a row that another transaction has locked. */
const LOCKED_FOR_MS = 500;
/** A user's requests that read messages at the same time. */
const AT_ONCE = 2;

interface SignedMessage {
  lease: LeaseKey;
  message: MessageDto;
  formatted: Formatted | null;
}

/** Leases deliveries of pull webhooks to consumers, and takes their acknowledgements. */
@Injectable()
export class MessagesService {
  private readonly mutex = new KeyedMutex(AT_ONCE);
  private readonly most: number;

  constructor(
    { eventMaxBytes }: Config,
    private readonly webhooks: WebhooksService,
    private readonly claims: ClaimsRepository,
    private readonly signer: RequestSignerService,
    private readonly settlements: SettlementsService,
    private readonly consumers: ConsumersService,
    private readonly shares: UserSharesService,
  ) {
    this.most = Math.floor(MAX_BYTES / eventMaxBytes);
  }

  /** Leases due deliveries, the oldest first: at once, as soon as there are any, or none when the time is over. */
  async lease(
    principal: Principal,
    webhookId: string,
    { limit, waitSeconds, leaseSeconds }: LeaseRequestDto,
    signal: AbortSignal,
  ): Promise<MessageDto[]> {
    const { userId, tokenId } = principal;
    const take = async (): Promise<MessageDto[]> =>
      this.shares.during(userId, async () => {
        await this.requirePulled(userId, webhookId);
        return this.take(userId, webhookId, limit, leaseSeconds);
      });
    const messages = await this.shares.during(userId, async () => {
      await this.requirePulled(userId, webhookId);
      await this.consumers.note(webhookId, tokenId);
      return this.take(userId, webhookId, limit, leaseSeconds);
    });
    if (messages.length > 0 || waitSeconds === 0) return messages;
    return this.consumers.wait({ principal, webhookId, waitMs: waitSeconds * 1000, signal }, take);
  }

  /** Ends attempts. A lease that has an outcome already, belongs to another webhook or is unknown changes nothing. */
  async acknowledge(
    userId: string,
    webhookId: string,
    all: readonly Acknowledgement[],
  ): Promise<AcknowledgedLeasesDto> {
    await this.requirePulled(userId, webhookId);
    const ends = all.map((each) => ({ key: parseLeaseId(each.leaseId), ended: endOf(each) }));
    const isSettled = await this.settlements.settleAll(webhookId, ends, LOCKED_FOR_MS);
    const idsOf = (belongs: (each: Acknowledgement, i: number) => boolean): string[] =>
      all.filter(belongs).map(({ leaseId }) => leaseId);
    return {
      succeeded: idsOf(({ succeeded }, i) => isSettled[i] === true && succeeded),
      failed: idsOf(({ succeeded }, i) => isSettled[i] === true && !succeeded),
      expired: idsOf((_, i) => isSettled[i] === false),
    };
  }

  private async take(userId: string, webhookId: string, limit: number, leaseSeconds: number): Promise<MessageDto[]> {
    const end = await this.mutex.acquire(userId);
    try {
      const leased = await this.claims.claimWaiting(webhookId, Math.min(limit, this.most), leaseSeconds);
      const messages: SignedMessage[] = [];
      for (const delivery of leased) {
        const { fields } = delivery;
        const sent = fields ? await this.signer.select(delivery, fields) : delivery;
        const signed = sent && this.sign(sent, delivery.body);
        if (signed) messages.push(signed);
        else if (sent) await this.settlements.putBack(delivery);
        else await this.settlements.fail(delivery, 'projection_failed', LOCKED_FOR_MS);
      }
      const kept = await this.claims.hold(
        messages.map(({ lease, message, formatted }) => ({ ...lease, requestHeaders: message.headers, formatted })),
      );
      return messages.map(({ message }) => message).filter(({ deliveryId }) => kept.has(deliveryId));
    } finally {
      end();
    }
  }

  private sign(delivery: LeasedDelivery, storedBody: string): SignedMessage | null {
    const { id: deliveryId, traceparent, attemptedAt, leasedUntil } = delivery;
    const sent = traceparent && childTraceparent(traceparent, randomBytes(8).toString('hex'));
    const signed = this.signer.sign(delivery, delivery, attemptedAt, sent);
    if (!signed) return null;
    const lease = leaseKeyOf(deliveryId, randomBytes(16));
    const message = { leaseId: formatLeaseId(lease), deliveryId, expiresAt: leasedUntil.toISOString(), ...signed };
    return { lease, message, formatted: keptBody(delivery.format, signed.body, storedBody) };
  }

  private async requirePulled(userId: string, webhookId: string): Promise<void> {
    const { kind } = await this.webhooks.read(userId, { id: webhookId });
    if (kind !== 'pull') throw new ApiError('kind_mismatch', MESSAGES.notPulled);
  }
}

const endOf = ({ succeeded, message }: Acknowledgement): Ended =>
  succeeded ? 'succeeded' : { code: 'rejected', message };
