import { Column, DeleteDateColumn, Entity, PrimaryColumn } from 'typeorm';
import type { Provider } from './account-handle';

@Entity('accounts')
export class Account {
  @PrimaryColumn('uuid')
  id: string;

  @Column('text', { name: 'user_id' })
  userId: string;

  @Column('text')
  provider: Provider;

  @Column('text')
  handle: string;

  @Column('integer', { name: 'interval_seconds' })
  intervalSeconds: number;

  /** Null, like `lastReadAt`, until a list has been stored. */
  @Column('integer', { name: 'followers_count', nullable: true })
  followersCount: number | null;

  @Column('timestamptz', { name: 'last_read_at', nullable: true })
  lastReadAt: Date | null;

  @Column('text', { name: 'last_error', nullable: true })
  lastError: string | null;

  /** Why the last complete reading is doubtful, see `suspicionOf`. It takes effect if the next reading confirms it. */
  @Column('text', { nullable: true })
  suspicion: string | null;

  /** The reading that holds the account until `nextReadingAt`. */
  @Column('uuid', { name: 'reading_id', nullable: true })
  readingId: string | null;

  /** Null for a push account, which is never read. */
  @Column('timestamptz', { name: 'next_reading_at', nullable: true })
  nextReadingAt: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  /** TypeORM finds no account that is deleted. Its row goes last, after its followers. */
  @DeleteDateColumn({ type: 'timestamptz', name: 'deleted_at' })
  deletedAt: Date | null;
}
