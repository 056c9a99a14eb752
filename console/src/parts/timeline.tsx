import { Check, Clock, type LucideIcon, Minus, X } from 'lucide-preact';
import { Link } from 'wouter-preact';
import { encoded } from '../api/address';
import { useAbout, useWebhooks } from '../api/queries';
import type { Delivery, Status } from '../api/types';
import { TEXT } from '../text/en';
import { AnswerBadge } from './answer';
import { waitOf } from './delivery-rows';
import { Icon } from './icon';
import { Due, lengthOf, LogTime } from './time';

const MARKS: Record<Status, LucideIcon> = { pending: Clock, succeeded: Check, failed: X, canceled: Minus };

/** The attempts of one event at one webhook, in the order of time. */
export function Timeline({
  attempts,
  shown,
  onShow,
}: {
  attempts: readonly Delivery[];
  /** The id of the attempt that is shown on this page. */
  shown?: string;
  /** Left out, each attempt is a link to its page. */
  onShow?: (id: string) => void;
}) {
  const last = attempts.at(-1);
  return (
    <ol class="timeline">
      {attempts.map((attempt) => (
        <li key={attempt.id} class={attempt.status}>
          <span class="mark">
            <Icon of={MARKS[attempt.status]} size={12} />
          </span>
          <span>
            {TEXT.attempt(attempt.attempt, attempt.trigger)} <AnswerBadge of={attempt} />
            <span class="muted small">
              <When of={attempt} />
            </span>
          </span>
          <span class="small">
            {attempt.id === shown ? (
              <span class="muted">{TEXT.delivery.shown}</span>
            ) : onShow ? (
              <button type="button" class="button quiet" onClick={() => onShow(attempt.id)}>
                {TEXT.delivery.show}
              </button>
            ) : (
              <Link href={encoded`/deliveries/${attempt.id}`}>{TEXT.delivery.show}</Link>
            )}
          </span>
        </li>
      ))}
      {last?.status === 'pending' && <ToCome last={last} />}
    </ol>
  );
}

function When({ of }: { of: Delivery }) {
  const { status, scheduledAt, attemptedAt, completedAt, durationMs, url } = of;
  const isDue = Date.parse(scheduledAt) <= Date.now();
  if (status === 'pending' && isDue) return <>{waitOf(of)}</>;
  return (
    <>
      {status === 'pending' && (
        <>
          <Due at={scheduledAt} />,{' '}
        </>
      )}
      <LogTime at={attemptedAt ?? completedAt ?? scheduledAt} isExact />
      {durationMs !== null && ` · ${TEXT.delivery.took(durationMs)}`}
      {attemptedAt !== null && <Waited ms={Date.parse(attemptedAt) - Date.parse(scheduledAt)} isPull={url === null} />}
    </>
  );
}

/** Shorter delays are not mentioned. */
const NOTABLE_MS = 5000;

/** How much later an attempt was made than it was due. */
const Waited = ({ ms, isPull }: { ms: number; isPull: boolean }) =>
  ms < NOTABLE_MS ? null : <> · {(isPull ? TEXT.pull.leasedLate : TEXT.delivery.waited)(lengthOf(ms))}</>;

/** What follows the attempt that waits, should it fail. */
function ToCome({ last }: { last: Delivery }) {
  const about = useAbout();
  const webhook = useWebhooks().data?.rows.find(({ id }) => id === last.webhookId);
  if (!about || !webhook) return null;
  const plan = webhook.retryDelaysMs?.slice(0, about.maxRetries) ?? about.retryDelaysMs;
  const waits = plan.slice(last.attempt - 1);
  if (waits.length === 0) return null;
  return (
    <li class="to-come">
      <span class="mark" aria-hidden="true" />
      <span class="muted small">{TEXT.story.toCome(waits.map(lengthOf).join(', '))}</span>
    </li>
  );
}
