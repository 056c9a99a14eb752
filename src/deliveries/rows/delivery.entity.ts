import { Column, Entity, PrimaryColumn, VirtualColumn } from 'typeorm';
import type { EventFormat } from '../../webhooks/formats/event-format';
import type { ErrorCode } from './delivery-error';
import { hasRate } from './lease';
import { type Stopped, stoppedOf } from './stopping';

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'canceled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export const TRIGGERS = ['event', 'redelivery', 'test'] as const;
export type Trigger = (typeof TRIGGERS)[number];

export type HeaderMap = Readonly<Record<string, string | string[]>>;

/** One attempt at sending an event to a webhook. */
@Entity('deliveries')
export class Delivery {
  /** UUIDv7; its timestamp is `createdAt`. The id of a first attempt has the timestamp of its event. */
  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'webhook_id' })
  webhookId: string;

  @Column('text', { name: 'user_id' })
  userId: string;

  @Column('uuid', { name: 'event_id' })
  eventId: string;

  @Column('text')
  event: string;

  /** Of the event; null without one. */
  @Column('text', { nullable: true })
  subject: string | null;

  @Column('smallint')
  attempt: number;

  @Column('text')
  trigger: Trigger;

  @Column('text')
  status: DeliveryStatus;

  /** The url that the request was sent to, or would be sent to now; null when a consumer leases it. */
  @Column('text', { nullable: true })
  url: string | null;

  @Column('integer', { name: 'response_status', nullable: true })
  responseStatus: number | null;

  @Column('integer', { name: 'duration_ms', nullable: true })
  durationMs: number | null;

  /** On a pending row that of the wait it was put back to; see waits.ts. */
  @Column('text', { name: 'error_code', nullable: true })
  errorCode: ErrorCode | null;

  @Column('text', { name: 'error_message', nullable: true })
  errorMessage: string | null;

  @Column('timestamptz', { name: 'scheduled_at' })
  scheduledAt: Date;

  @Column('timestamptz', { name: 'attempted_at', nullable: true })
  attemptedAt: Date | null;

  @Column('timestamptz', { name: 'completed_at', nullable: true })
  completedAt: Date | null;

  /** When the next attempt is due. Null on a failed row means that no attempt follows. */
  @Column('timestamptz', { name: 'next_attempt_at', nullable: true })
  nextAttemptAt: Date | null;

  @Column('json', { name: 'request_headers', nullable: true })
  requestHeaders: HeaderMap | null;

  /** The format of the request; null for `native`, and when no request was sent. */
  @Column('text', { nullable: true })
  format: EventFormat | null;

  /** The body that was sent; null for the body of the event itself. */
  @Column('text', { name: 'request_body', nullable: true })
  requestBody: string | null;

  @Column('json', { name: 'response_headers', nullable: true })
  responseHeaders: HeaderMap | null;

  @Column('text', { name: 'response_body', nullable: true })
  responseBody: string | null;

  @Column('boolean', { name: 'response_body_truncated', nullable: true })
  responseBodyTruncated: boolean | null;

  /**
   * True while deferred: the row waits for the rate of its webhook, or for a slot of its webhook, its user or the process, and has
   * no queue job.
   */
  @Column('boolean')
  parked: boolean;

  /** True while a worker makes the attempt, or a consumer has leased it. */
  @Column('boolean')
  claimed: boolean;

  /** Whether its webhook has a rate now. Lists have it of deferred rows only. */
  @VirtualColumn({ type: 'boolean', query: (row) => `select ${hasRate(row)}` })
  hasRate: boolean;

  /** Set on a pending row that is about to be canceled, because its webhook was disabled or deleted; see stopping.ts. */
  @VirtualColumn({ type: 'json', query: (row) => `select ${stoppedOf(row)}` })
  stopped: Stopped | null;
}

/** The fields of a delivery that lists return. */
export type ListedDelivery = Omit<
  Delivery,
  'userId' | 'requestHeaders' | 'responseHeaders' | 'responseBody' | 'responseBodyTruncated'
>;

/** SQL for the same columns of a row `d`. */
export const LISTED_COLUMNS = `
  d.id, d.webhook_id as "webhookId", d.event_id as "eventId", d.event, d.subject, d.attempt, d.trigger, d.status, d.url,
  d.response_status as "responseStatus", d.duration_ms as "durationMs", d.error_code as "errorCode",
  d.error_message as "errorMessage", d.scheduled_at as "scheduledAt", d.attempted_at as "attemptedAt",
  d.completed_at as "completedAt", d.next_attempt_at as "nextAttemptAt", d.parked, d.claimed,
  d.parked and ${hasRate('d')} as "hasRate", ${stoppedOf('d')} as stopped`;
