import { Column, Entity, PrimaryColumn } from 'typeorm';

export const RECOVERY_STATUSES = ['running', 'done'] as const;
export type RecoveryStatus = (typeof RECOVERY_STATUSES)[number];

/** A request to bring home what a webhook has missed. */
@Entity('recoveries')
export class Recovery {
  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'webhook_id' })
  webhookId: string;

  /** Owner of the webhook. */
  @Column('text', { name: 'user_id' })
  userId: string;

  @Column('text')
  status: RecoveryStatus;

  /** Events that had to be recovered when it began. */
  @Column('integer')
  count: number;

  /** Those of them that have a new attempt by now. */
  @Column('integer')
  queued: number;

  /** The window, as ids of events: the first that may be in it, */
  @Column('uuid', { name: 'first_id' })
  firstId: string;

  /** and the first after it. */
  @Column('uuid', { name: 'until_id' })
  untilId: string;

  /** The last event that was looked at. */
  @Column('uuid')
  cursor: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'completed_at', nullable: true })
  completedAt: Date | null;
}
