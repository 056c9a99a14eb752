import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/access-token';
import { Config } from '../../infrastructure/config/config';
import { ClockService } from '../../infrastructure/database/clock.service';
import { invalid, invalidCursor } from '../../infrastructure/errors/api-error';
import { MESSAGES } from '../../infrastructure/errors/messages';
import type { CursorScope } from '../../infrastructure/pagination/cursor';
import { Page } from '../../infrastructure/pagination/page';
import { WebhooksService } from '../../webhooks/webhooks.service';
import type { ListedDelivery } from '../listed-columns';
import { decodeChangeCursor, encodeChangeCursor } from './change-position';
import { ChangesService } from './changes.service';
import { matches, requireStateAlone } from './delivery-filters';
import { DeliveryLogService } from './delivery-log.service';
import type { DeliveryQueryDto } from './dto/delivery-query.dto';

const MAX_LIMIT = 250;

/** Both forms of the delivery list: newest first, or changes in the order in which they happened. */
@Injectable()
export class DeliveryListsService {
  /** All processes share this key, so each of them accepts a cursor. */
  private readonly key: Buffer;

  constructor(
    private readonly log: DeliveryLogService,
    private readonly changes: ChangesService,
    private readonly webhooks: WebhooksService,
    private readonly clock: ClockService,
    config: Config,
  ) {
    this.key = config.secretsKeys[0] as Buffer;
  }

  /**
   * Returns the deliveries to one webhook.
   * @throws ApiError 404 when the user has no such webhook; otherwise as `listAll`
   */
  async list(
    user: Principal,
    webhookId: string,
    query: DeliveryQueryDto,
    signal: AbortSignal,
  ): Promise<Page<ListedDelivery>> {
    if (isOrdinary(query)) return this.log.list(user.userId, webhookId, query);
    await this.webhooks.read(user.userId, { id: webhookId });
    return this.changed(user, `changes of ${webhookId}`, { ...query, webhookId }, signal);
  }

  /**
   * Returns the deliveries to all webhooks of the user, including deleted ones.
   * @param signal aborted when the client has disconnected
   * @throws ApiError 400 for a bad cursor or conflicting parameters; otherwise as `ChangesService.read`
   */
  async listAll(user: Principal, query: DeliveryQueryDto, signal: AbortSignal): Promise<Page<ListedDelivery>> {
    if (isOrdinary(query)) return this.log.listAll(user.userId, query);
    return this.changed(user, 'changes', query, signal);
  }

  private async changed(
    principal: Principal,
    list: string,
    query: DeliveryQueryDto & { webhookId?: string },
    signal: AbortSignal,
  ): Promise<Page<ListedDelivery>> {
    const { limit, changedAfter = 'now', waitSeconds = 0, since, until, ...filters } = query;
    const scope: CursorScope = [principal.userId, list, { ...filters, since, until }];
    const after = changedAfter === 'now' ? null : decodeChangeCursor(changedAfter, scope, this.clock.now(), this.key);
    if (changedAfter !== 'now' && !after) throw invalidCursor('changedAfter', MESSAGES.badChangeCursor);
    const { changes, next } = await this.changes.read({
      principal,
      after,
      limit,
      waitMs: waitSeconds * 1000,
      isWanted: ({ row }) => matches(row, filters, { since, until }),
      signal,
    });
    const rows = changes.map(({ row }) => row);
    return Page.endless(rows, encodeChangeCursor(next, scope, this.clock.now(), this.key));
  }
}

/**
 * Returns true when the query does not request changes.
 * @throws ApiError 400 for conflicting parameters
 */
function isOrdinary({ changedAfter, waitSeconds, cursor, limit, ...filters }: DeliveryQueryDto): boolean {
  requireStateAlone(filters);
  if (changedAfter !== undefined) {
    if (filters.state) throw invalid('query.state', MESSAGES.stateAlone);
    if (cursor !== undefined) throw invalid('query.cursor', MESSAGES.cursorWithChanges);
    return false;
  }
  if (waitSeconds) throw invalid('query.waitSeconds', MESSAGES.waitWithoutChanges);
  if (limit > MAX_LIMIT) throw invalid('query.limit', MESSAGES.limitWithoutChanges);
  return true;
}
