import { Column, Entity, PrimaryColumn } from 'typeorm';

/** SQL for the lowest id of the first day whose events and deliveries have subjects, and an index of them. */
export const SUBJECTS_FROM = '(select subjects_from from webhook_service.installation where is_only)';

@Entity('events')
export class Event {
  /** UUIDv7; its timestamp is the event's `createdAt`, and determines its partition. */
  @PrimaryColumn('uuid')
  id: string;

  @Column('text')
  name: string;

  /** Null for all users. */
  @Column('text', { name: 'user_id', nullable: true })
  userId: string | null;

  /** Null when published in process. */
  @Column('text', { name: 'publisher_id', nullable: true })
  publisherId: string | null;

  /** The exact body that every receiver gets. */
  @Column('text')
  body: string;

  /** What the event is about; null without a subject, and when it was published by a version before 1.0. */
  @Column('text', { nullable: true })
  subject: string | null;

  /** W3C Trace Context of the publication; null without a trace. */
  @Column('text', { nullable: true })
  traceparent: string | null;

  @Column('boolean', { name: 'is_test' })
  isTest: boolean;

  @Column('timestamptz', { name: 'accepted_at' })
  acceptedAt: Date;

  @Column('timestamptz', { name: 'fanned_out_at', nullable: true })
  fannedOutAt: Date | null;

  /** End of the row's lease; see deliveries/rows/lease.ts. */
  @Column('timestamptz', { name: 'leased_until' })
  leasedUntil: Date;

  @Column('boolean')
  claimed: boolean;
}
