import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { encoded } from '../api/address';
import { useWebhooks } from '../api/queries';
import type { Delivery } from '../api/types';
import { TEXT } from '../text/en';
import { AnswerBadge } from './answer';
import { AttemptDots } from './attempt-dots';
import { lastList } from './last-list';
import { plainOf } from './plain';
import { DeliveryStatus } from './status';
import { Due, LogTime } from './time';
import { destinationOf, nameOf } from './webhook-name';

export interface Selection {
  ids: ReadonlySet<string>;
  onChange: (ids: ReadonlySet<string>) => void;
}

const { columns } = TEXT.log;

/** A table of attempts; on a narrow screen each row is a card. */
export function DeliveryRows({
  rows,
  selection,
  open,
  isExplained,
}: {
  rows: readonly Delivery[];
  selection?: Selection;
  /** The id of the attempt that is shown beside the table. */
  open?: string;
  /** Says in each row what happened. */
  isExplained?: boolean;
}) {
  useEffect(() => lastList.set(rows.map(({ id }) => id)), [rows]);
  const names = new Map(useWebhooks().data?.rows.map((webhook) => [webhook.id, nameOf(webhook)]));
  return (
    <div class="card scrolls">
      <table class="data deliveries">
        <thead>
          <tr>
            {selection && (
              <th scope="col">
                <span class="unseen">{TEXT.log.select}</span>
              </th>
            )}
            <th scope="col">{columns.status}</th>
            <th scope="col">{columns.event}</th>
            <th scope="col">{columns.to}</th>
            <th scope="col">{columns.answer}</th>
            <th scope="col">{columns.attempts}</th>
            <th scope="col" class="end">
              {columns.created}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={row.id}
              row={row}
              name={names.get(row.webhookId)}
              selection={selection}
              isOpen={row.id === open}
              isExplained={isExplained}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({
  row,
  name = destinationOf(row),
  selection,
  isOpen,
  isExplained,
}: {
  row: Delivery;
  name?: string;
  selection?: Selection;
  isOpen: boolean;
  isExplained?: boolean;
}) {
  return (
    <tr class={isOpen ? 'open' : ''}>
      {selection && (
        <td class="choose">
          <Choose row={row} selection={selection} />
        </td>
      )}
      <td>
        <DeliveryStatus of={row} />
      </td>
      <td>
        <Link
          class="name code"
          href={encoded`/deliveries/${row.id}`}
          data-row={row.id}
          aria-current={isOpen || undefined}
        >
          {plainOf(row.event)}
        </Link>
        {row.trigger !== 'event' && <span class="muted small"> {TEXT.triggers[row.trigger]}</span>}
        {row.subject !== null && <span class="sub">{plainOf(row.subject)}</span>}
        {isExplained && <span class="sub">{shortOf(resultOf(row))}</span>}
      </td>
      <td class="sub-cell">{name}</td>
      <td>
        <AnswerBadge of={row} />
      </td>
      <td>
        <AttemptDots of={row} />
      </td>
      <td class="end">
        {row.status === 'pending' && Date.parse(row.scheduledAt) > Date.now() ? (
          <Due at={row.scheduledAt} />
        ) : (
          <LogTime at={row.createdAt} />
        )}
      </td>
    </tr>
  );
}

function Choose({ row, selection: { ids, onChange } }: { row: Delivery; selection: Selection }) {
  const change = (isOn: boolean) => {
    const next = new Set(ids);
    if (isOn) next.add(row.id);
    else next.delete(row.id);
    onChange(next);
  };
  return (
    <input
      type="checkbox"
      aria-label={TEXT.log.selectThis(row.event, row.id)}
      checked={ids.has(row.id)}
      onChange={({ currentTarget }) => change(currentTarget.checked)}
    />
  );
}

/** Its first sentence: what happened, without what to do about it. */
const shortOf = (text: string): string => /^.*?[.!?](?=\s)/.exec(text)?.[0] ?? text;

/** The result of an attempt, in a sentence or two. */
export function resultOf(of: Delivery): string {
  const { error, responseStatus, durationMs, status, url } = of;
  if (error) return plainOf(error.message);
  if (responseStatus !== null) return TEXT.log.answered(responseStatus, durationMs ?? 0);
  if (status === 'pending') return waitOf(of);
  return url === null && status === 'succeeded' ? TEXT.pull.acknowledgedIn(durationMs ?? 0) : '';
}

/** What a pending attempt waits for. */
export const waitOf = ({ waitsFor, url }: Pick<Delivery, 'waitsFor' | 'url'>): string =>
  waitsFor ? TEXT.log.waits[waitsFor] : url === null ? TEXT.pull.leased : TEXT.log.due;
