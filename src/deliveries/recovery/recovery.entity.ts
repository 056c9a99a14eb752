import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ErrorCode } from '../delivery-error';

export const RECOVERY_STATUSES = ['running', 'done'] as const;
export type RecoveryStatus = (typeof RECOVERY_STATUSES)[number];

/** A request to send again what a webhook has missed. */
@Entity('recoveries')
export class Recovery {
  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'webhook_id' })
  webhookId: string;

  /** The owner of the webhook. */
  @Column('text', { name: 'user_id' })
  userId: string;

  @Column('text')
  status: RecoveryStatus;

  /** How many events had to be recovered when it began. */
  @Column('integer')
  count: number;

  /** How many of them have a new attempt by now. */
  @Column('integer')
  queued: number;

  /** The first id of an event that may be in the window. */
  @Column('uuid', { name: 'first_id' })
  firstId: string;

  /** The first id after the window. */
  @Column('uuid', { name: 'until_id' })
  untilId: string;

  /** The id of the last event that was looked at. */
  @Column('uuid')
  cursor: string;

  /** Only events with this name; null: all. */
  @Column('text', { nullable: true })
  event: string | null;

  /** Only events whose newest delivery has this error; null: all that were missed. */
  @Column('text', { nullable: true })
  error: ErrorCode | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'completed_at', nullable: true })
  completedAt: Date | null;
}
