import { Column, Entity, PrimaryColumn } from 'typeorm';

export const ERASURE_STATUSES = ['running', 'done'] as const;
export type ErasureStatus = (typeof ERASURE_STATUSES)[number];

export const ERASURE_KINDS = [
  'tokens',
  'links',
  'followers',
  'accounts',
  'recoveries',
  'webhooks',
  'keys',
  'deliveries',
  'events',
  'eventsForOthers',
  'attemptCounts',
  'queueJobs',
  'eventTypes',
] as const;
export type ErasureKind = (typeof ERASURE_KINDS)[number];

@Entity('erasures')
export class Erasure {
  @PrimaryColumn('uuid')
  id: string;

  @Column('text')
  status: ErasureStatus;

  /** HMAC of the user's id; see `userHashes`. */
  @Column('bytea', { name: 'user_hash' })
  userHash: Buffer;

  /** The user's id, encrypted for this row; null when the erasure is done. */
  @Column('bytea', { name: 'sealed_user', nullable: true })
  sealedUser: Buffer | null;

  /** Null when that user was erased too. */
  @Column('text', { name: 'requested_by', nullable: true })
  requestedBy: string | null;

  /** Absent: none so far. */
  @Column('jsonb')
  counts: Partial<Record<ErasureKind, number>>;

  /** When the last pass may begin; null until the first one has ended. */
  @Column('timestamptz', { name: 'last_pass_at', nullable: true })
  lastPassAt: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'completed_at', nullable: true })
  completedAt: Date | null;
}
