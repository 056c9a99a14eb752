import { Column, DeleteDateColumn, Entity, PrimaryColumn } from 'typeorm';
import type { Scope } from '../access-token';

@Entity('access_tokens')
export class AccessToken {
  @PrimaryColumn('uuid')
  id: string;

  @Column('text', { name: 'user_id' })
  userId: string;

  @Column('text')
  name: string;

  @Column('bytea', { name: 'token_hash' })
  tokenHash: Buffer;

  @Column('text', { array: true })
  scopes: Scope[];

  /** The token that created this one. Revoking it also revokes this one. */
  @Column('uuid', { name: 'parent_id', nullable: true })
  parentId: string | null;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt: Date | null;

  @Column('timestamptz', { name: 'last_used_at', nullable: true })
  lastUsedAt: Date | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('boolean', { name: 'is_session' })
  isSession: boolean;

  /** When it was revoked, while those made with it are being deleted; see live-token.ts. */
  @DeleteDateColumn({ type: 'timestamptz', name: 'revoked_at' })
  revokedAt: Date | null;

  /**
   * SHA-256 of the BOOTSTRAP_TOKEN that created this session, or the session that created this token. The token ends when
   * that setting changes.
   */
  @Column('bytea', { name: 'bootstrap_hash', nullable: true })
  bootstrapHash: Buffer | null;
}
