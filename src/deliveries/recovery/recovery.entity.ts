import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ErrorCode } from '../rows/delivery-error';

export const RECOVERY_STATUSES = ['running', 'done'] as const;
export type RecoveryStatus = (typeof RECOVERY_STATUSES)[number];

@Entity('recoveries')
export class Recovery {
  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'webhook_id' })
  webhookId: string;

  @Column('text', { name: 'user_id' })
  userId: string;

  @Column('text')
  status: RecoveryStatus;

  /** Number of events to recover; null until it is known. */
  @Column('integer', { nullable: true })
  count: number | null;

  /** Number of these events that have a new attempt so far. */
  @Column('integer')
  queued: number;

  /** The lowest id that an event of the window can have. */
  @Column('uuid', { name: 'first_id' })
  firstId: string;

  @Column('uuid', { name: 'until_id' })
  untilId: string;

  /** Id of the last event that was checked. */
  @Column('uuid')
  cursor: string;

  @Column('text', { nullable: true })
  event: string | null;

  /** Only events whose newest delivery has this error; null for all missed events. */
  @Column('text', { nullable: true })
  error: ErrorCode | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'completed_at', nullable: true })
  completedAt: Date | null;
}
