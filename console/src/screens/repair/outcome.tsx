import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import type { Delivery, Recovery } from '../../api/types';
import { DeliveryRows } from '../../parts/delivery-rows';
import { Problem } from '../../parts/problem';
import { lengthOf } from '../../parts/time';
import { TEXT } from '../../text/en';
import { timeLeftMs } from './time-left';
import { type Outcome, useOutcome, useRecovery } from './use-outcome';

const MOST_SHOWN = 20;

/** Shows the progress of a recovery, and the outcome of its events. */
export function RecoveryOutcome({ webhookId, id }: { webhookId: string; id: string | null }) {
  const recovery = useRecovery(webhookId, id);
  if (recovery.isError) return <Problem error={recovery.error} />;
  return recovery.data ? <Followed webhookId={webhookId} recovery={recovery.data} /> : null;
}

function Followed({ webhookId, recovery }: { webhookId: string; recovery: Recovery }) {
  const outcome = useOutcome(webhookId, recovery);
  if (outcome.isError) return <Problem error={outcome.error} />;
  if (!outcome.data) return null;
  const { waiting, failing } = outcome.data;
  const isOver = recovery.status === 'done' && waiting === 0;
  const log = encoded`/deliveries?webhookId=${webhookId}&trigger=redelivery&since=${recovery.createdAt}&state=gave_up`;
  return (
    <div class="recovery">
      {!isOver && <Sending recovery={recovery} waiting={waiting} />}
      <p role="status">{textOf(recovery, outcome.data, isOver)}</p>
      {failing.length > 0 && <StillFailing rows={failing} log={log} />}
    </div>
  );
}

/** Estimates from this recovery alone: earlier rates say nothing about the receiver after an outage. */
function Sending({ recovery: { count, queued, createdAt }, waiting }: { recovery: Recovery; waiting: number }) {
  const sent = Math.max(0, queued - waiting);
  const leftMs = timeLeftMs(sent, count, Date.now() - Date.parse(createdAt));
  return (
    <p class="actions">
      <progress
        max={Math.max(1, count ?? 1)}
        value={count === null ? undefined : sent}
        aria-label={TEXT.repair.sending(sent, count)}
      />
      <span class="number">{TEXT.repair.sending(sent, count)}</span>
      {leftMs !== null && <span class="muted">{TEXT.repair.left(lengthOf(Math.max(1000, leftMs)))}</span>}
    </p>
  );
}

/** Such as `1,201 delivered, 3 still failing.` */
function textOf({ queued }: Recovery, { waiting, failing, canceled, isCut }: Outcome, isOver: boolean): string {
  const delivered = Math.max(0, queued - waiting - failing.length - canceled);
  if (isOver && queued === 0) return TEXT.repair.nothingSent;
  if (isOver && !isCut && delivered === queued) return TEXT.repair.allDelivered(queued);
  const parts = [
    !isCut && TEXT.repair.delivered(delivered),
    failing.length > 0 && TEXT.repair.stillFailing(failing.length, isCut),
    isOver && canceled > 0 && TEXT.repair.canceled(canceled),
  ].filter((part) => part !== false);
  return parts.length === 0 ? '' : `${parts.join(', ')}.`;
}

function StillFailing({ rows, log }: { rows: readonly Delivery[]; log: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <>
      <p class="actions">
        <button type="button" class="button small" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {TEXT.repair.showThem}
        </button>
        {isShown && <Link href={log}>{TEXT.repair.inLog}</Link>}
      </p>
      {isShown && <DeliveryRows rows={rows.slice(0, MOST_SHOWN)} isExplained />}
    </>
  );
}
