import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { idBounds } from '../database/id-bounds';
import { StatementsService } from '../database/statements.service';
import type { AttemptRecord, Recorded } from './attempt-record';
import type { DueDelivery, DueWebhook } from './due-delivery';
import type { DeliveryError } from './failure';
import { ATTEND, CANCEL_PENDING, ENTRUST_TO_SWEEPER, LAST_SUCCESS, LOAD_DUE, RECORD } from './deliveries.statements';

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
      ...columns(inOrder),
      ...idBounds(ids),
    ]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  /** No job attends to the rows any more: the sweeper reminds of them when they are due. */
  async entrustToSweeper(ids: readonly string[]): Promise<void> {
    await this.statements.run(ENTRUST_TO_SWEEPER, [ids, ...idBounds(ids)]);
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

/** One array for each column of `RECORD`, in its order. */
function columns(records: readonly AttemptRecord[]): unknown[][] {
  const responses = records.map(({ exchange }) => exchange?.response ?? null);
  return [
    records.map(({ deliveryId }) => deliveryId),
    records.map(({ status }) => status),
    records.map(({ error }) => error?.code ?? null),
    records.map(({ error }) => error?.message ?? null),
    records.map(({ exchange }) => exchange?.url ?? null),
    records.map(({ exchange }) => exchange?.attemptedAt.toISOString() ?? null),
    records.map(({ exchange }) => exchange?.durationMs ?? null),
    records.map(({ exchange }) => (exchange ? JSON.stringify(exchange.requestHeaders) : null)),
    responses.map((response) => response?.status ?? null),
    responses.map((response) => (response ? JSON.stringify(response.headers) : null)),
    // PostgreSQL's text cannot hold NUL.
    responses.map((response) => response?.body.replaceAll('\0', '\ufffd') ?? null),
    responses.map((response) => response?.bodyTruncated ?? null),
    records.map(({ next }) => next?.id ?? null),
    records.map(({ next }) => next?.delayMs ?? null),
  ];
}
