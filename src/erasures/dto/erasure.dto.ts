import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { USER_ID } from 'webhook-notification/catalogue';
import { MESSAGES } from '../../infrastructure/errors/api-error';
import { PageQueryDto } from '../../infrastructure/pagination/dto/page-query.dto';
import { ApiCount, ApiId, ApiTime, Optional } from '../../infrastructure/validation/api-field.decorator';
import { type Erasure, ERASURE_KINDS, ERASURE_STATUSES, type ErasureKind, type ErasureStatus } from '../erasure.entity';

export class ErasureRequestDto {
  /** The same user id as in the path: an erasure cannot be undone. */
  @ApiProperty({ pattern: USER_ID.source, example: 'alice' })
  @Matches(USER_ID, { message: 'confirm must be the userId of the path' })
  confirm: string;
}

export class ListErasuresDto extends PageQueryDto {
  /** Returns only erasures of this user. */
  @ApiProperty({ required: false, pattern: USER_ID.source })
  @Optional()
  @Matches(USER_ID, { message: MESSAGES.badUserId })
  userId?: string;
}

export class ErasureCountsDto implements Record<ErasureKind, number> {
  /** Access tokens and sessions of the user, and all tokens created with them. */
  @ApiCount()
  tokens: number;

  /** Console links. */
  @ApiCount()
  links: number;

  /** Followers of the user's accounts. */
  @ApiCount()
  followers: number;

  /** Social accounts. */
  @ApiCount()
  accounts: number;

  /** Recoveries. */
  @ApiCount()
  recoveries: number;

  /** Webhooks. */
  @ApiCount()
  webhooks: number;

  /** Idempotency keys. */
  @ApiCount()
  keys: number;

  /** Deliveries to the user's webhooks. */
  @ApiCount()
  deliveries: number;

  /** Events for the user. */
  @ApiCount()
  events: number;

  /** Events that the user published for others. They keep their data, and no longer name the user. */
  @ApiCount()
  eventsForOthers: number;

  /** Counters of attempts. */
  @ApiCount()
  attemptCounts: number;

  /** Jobs of monitored queues that name the user and have not ended. */
  @ApiCount()
  queueJobs: number;

  /** Event types that the user declared. They stay, without the user. */
  @ApiCount()
  eventTypes: number;

  static from(counts: Erasure['counts']): ErasureCountsDto {
    const all = ERASURE_KINDS.map((kind) => [kind, counts[kind] ?? 0] as const);
    return Object.fromEntries(all) as Record<ErasureKind, number>;
  }
}

export class ErasureDto {
  /**
   * UUIDv7 of the erasure.
   * @example 0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90
   */
  @ApiId()
  id: string;

  /** `running` until everything is deleted; then the user id is free again. */
  @ApiProperty({ enum: ERASURE_STATUSES })
  status: ErasureStatus;

  /**
   * The user whose token requested the erasure; null if that user was erased too.
   * @example admin
   */
  requestedBy: string | null;

  /** When the erasure was requested. */
  @ApiTime()
  createdAt: string;

  /** When the erasure completed; null while it is running. */
  @ApiTime()
  completedAt: string | null;

  /** Number of rows deleted or changed so far. */
  counts: ErasureCountsDto;

  static from({ id, status, requestedBy, createdAt, completedAt, counts }: Erasure): ErasureDto {
    return {
      ...{ id, status, requestedBy },
      createdAt: createdAt.toISOString(),
      completedAt: completedAt?.toISOString() ?? null,
      counts: ErasureCountsDto.from(counts),
    };
  }
}
