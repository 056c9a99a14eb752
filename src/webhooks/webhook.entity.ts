import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { EventFormat } from './formats/event-format';
import type { SealedHeaders } from './headers/header-rules';
import type { EventFilter } from './filter/event-filter';
import type { WebhookKind } from './webhook-fields';

export const DISABLED_REASONS = ['failing', 'gone', 'receiver_gone'] as const;

/** Why the service itself disabled a webhook; `receiver_gone`: its test receiver has expired. */
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** What names a webhook among those of its user. */
export type WebhookKey = { id: string } | { externalId: string };

@Entity('webhooks')
export class Webhook {
  @PrimaryColumn('uuid')
  id: string;

  @Column('text', { name: 'user_id' })
  userId: string;

  @Column('text')
  kind: WebhookKind;

  /** Null for a pull webhook. */
  @Column('text', { nullable: true })
  url: string | null;

  @Column('text', { array: true })
  events: string[];

  @Column('text', { nullable: true })
  description: string | null;

  /** Labels of its owner, by name. */
  @Column('jsonb')
  metadata: Record<string, string>;

  /** Its owner's id for it; unique among the user's webhooks. */
  @Column('text', { name: 'external_id', nullable: true })
  externalId: string | null;

  /** Null: the webhook receives all events that it subscribes to. */
  @Column('jsonb', { nullable: true })
  filter: EventFilter | null;

  /** How it receives events. */
  @Column('text')
  format: EventFormat;

  /** Paths below the data that it receives; null: all of the data. */
  @Column('text', { array: true, nullable: true })
  fields: string[] | null;

  /** Sealed values of its owner's headers by name; see `HeadersService`. */
  @Column('jsonb')
  headers: SealedHeaders;

  /** Its own deadline of an attempt, as its owner set it; null: that of the service. */
  @Column('integer', { name: 'timeout_ms', nullable: true })
  timeoutMs: number | null;

  /** Its own retry delays, as its owner set them; null: the plan of the service. */
  @Column('integer', { name: 'retry_delays_ms', array: true, nullable: true })
  retryDelaysMs: number[] | null;

  /** Maximum attempts per second; null: no limit. See `rate.ts`. */
  @Column('float8', { name: 'max_per_second', nullable: true })
  maxPerSecond: number | null;

  /** Seconds without a lease after which a pull webhook is deleted; null: never. */
  @Column('integer', { name: 'idle_seconds', nullable: true })
  idleSeconds: number | null;

  /** When a consumer last polled, accurate to a second. */
  @Column('timestamptz', { name: 'last_leased_at', nullable: true })
  lastLeasedAt: Date | null;

  /** The name of the access token that polled; null for other tokens. */
  @Column('text', { name: 'last_leased_by', nullable: true })
  lastLeasedBy: string | null;

  /** Encrypted by `secret-box.ts`. */
  @Column('bytea')
  secret: Buffer;

  @Column('bytea', { name: 'previous_secret', nullable: true })
  previousSecret: Buffer | null;

  @Column('timestamptz', { name: 'previous_secret_expires_at', nullable: true })
  previousSecretExpiresAt: Date | null;

  /** When the secret was last replaced; null if it never was. */
  @Column('timestamptz', { name: 'secret_rotated_at', nullable: true })
  secretRotatedAt: Date | null;

  @Column('boolean')
  active: boolean;

  @Column('text', { name: 'disabled_reason', nullable: true })
  disabledReason: DisabledReason | null;

  /** When it was last disabled, or created inactive; null while it is active. */
  @Column('timestamptz', { name: 'disabled_at', nullable: true })
  disabledAt: Date | null;

  @Column('integer', { name: 'consecutive_failures' })
  consecutiveFailures: number;

  /** The last activation, or the last success that this row records. */
  @Column('timestamptz', { name: 'healthy_at' })
  healthyAt: Date;

  /** Since when it is failing, by the notice that its owner gets; see `WebhookHealthService`. */
  @Column('timestamptz', { name: 'failing_since', nullable: true })
  failingSince: Date | null;

  /** After it recovered, until its owner is told: the events in a row that ran out of retries before. */
  @Column('integer', { name: 'missed_count', nullable: true })
  missedCount: number | null;

  /** Whether the last notice said that it is failing. */
  @Column('boolean', { name: 'told_failing' })
  toldFailing: boolean;

  /** When `events` last changed; null: never. */
  @Column('timestamptz', { name: 'subscribed_at', nullable: true })
  subscribedAt: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
