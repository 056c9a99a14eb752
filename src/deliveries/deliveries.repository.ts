import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { idBounds } from '../plumbing/database/id-bounds';
import { StatementsService } from '../plumbing/database/statements.service';
import type { AttemptRecord, Recorded } from './attempt';
import type { DueDelivery, DueWebhook } from './due-delivery';
import type { DeliveryError } from './delivery-error';
import {
  ATTEND,
  CANCEL_PENDING,
  ENTRUST_TO_SWEEPER,
  LAST_SUCCESS,
  LOAD_DUE,
  RECORD,
  TAKE_BACK,
} from './deliveries.statements';

/** The columns of the webhook are null when it was deleted. */
type DueRow = Omit<DueDelivery, 'webhook'> & Omit<DueWebhook, 'url'> & { url: string | null };

/** The statements of the hot path: each of them works on many rows at once. */
@Injectable()
export class DeliveriesRepository {
  constructor(private readonly statements: StatementsService) {}

  /** One entry for each id, in order; null where there is no such row any more. */
  async loadDue(ids: readonly string[]): Promise<(DueDelivery | null)[]> {
    const rows = await this.statements.run<DueRow>(LOAD_DUE, [ids, ...idBounds(ids)]);
    const byId = new Map(rows.map((row) => [row.id, toDue(row)]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  /**
   * Writes outcomes and inserts the next attempts in one statement. A row that is no longer pending stays as it is,
   * except that an attempt that was made leaves its outcome on a row that was canceled meanwhile.
   */
  async record(records: readonly AttemptRecord[]): Promise<Map<string, Recorded>> {
    const inOrder = [...records].sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
    const ids = inOrder.map(({ deliveryId }) => deliveryId);
    const rows = await this.statements.run<Recorded & Record<string, unknown>>(RECORD, [
      JSON.stringify(inOrder.map(outcome)),
      ...idBounds(ids),
    ]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** No job attends to the rows any more: the sweeper reminds of them when they are due. */
  async entrustToSweeper(ids: readonly string[]): Promise<void> {
    await this.statements.run(ENTRUST_TO_SWEEPER, [ids, ...idBounds(ids)]);
  }

  /** Whether the job that has this delivery's id may see to it again, see `TAKE_BACK`. */
  async takeBack(id: string): Promise<boolean> {
    return (await this.statements.run(TAKE_BACK, [id])).length > 0;
  }

  /** Their attempts are being made and take long: the sweeper leaves the rows alone. */
  async attend(ids: readonly string[]): Promise<void> {
    await this.statements.run(ATTEND, [ids, ...idBounds(ids)]);
  }

  /** When a delivery to this webhook last succeeded, tests apart. */
  async lastSuccessAt(webhookId: string): Promise<Date | null> {
    const [newest] = await this.statements.run<{ completedAt: Date }>(LAST_SUCCESS, [webhookId]);
    return newest?.completedAt ?? null;
  }

  async cancelPending(manager: EntityManager, webhookId: string, { code, message }: DeliveryError): Promise<void> {
    await manager.query(CANCEL_PENDING.text, [webhookId, code, message]);
  }
}

function toDue({ url, active, sealedSecret, sealedPreviousSecret, ...row }: DueRow): DueDelivery {
  return { ...row, webhook: url === null ? null : { url, active, sealedSecret, sealedPreviousSecret } };
}

/** What `RECORD` reads of one outcome; what is undefined is left out of the JSON, and null in the row. */
function outcome({ deliveryId, status, error, exchange, next }: AttemptRecord): Record<string, unknown> {
  const response = exchange?.response;
  return {
    id: deliveryId,
    status,
    error_code: error?.code,
    error_message: error?.message,
    url: exchange?.url,
    attempted_at: exchange?.attemptedAt,
    duration_ms: exchange?.durationMs,
    request_headers: exchange?.requestHeaders,
    response_status: response?.status,
    response_headers: response?.headers,
    // PostgreSQL's text cannot hold NUL.
    response_body: response?.body.replaceAll('\0', '\ufffd'),
    response_body_truncated: response?.bodyTruncated,
    next_id: next?.id,
    delay_ms: next?.delayMs,
  };
}
