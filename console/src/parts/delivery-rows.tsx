import { Link } from 'wouter-preact';
import { encoded } from '../api/address';
import type { Delivery } from '../api/types';
import { TEXT } from '../text/en';
import { lastList } from './last-list';
import { plainOf } from './plain';
import { DeliveryStatus } from './status';
import { Ago } from './time';

export interface Selection {
  ids: ReadonlySet<string>;
  onChange: (ids: ReadonlySet<string>) => void;
}

/** A table of attempts; on a narrow screen each row is a card. */
export function DeliveryRows({ rows, selection }: { rows: readonly Delivery[]; selection?: Selection }) {
  const { columns } = TEXT.log;
  return (
    <div class="card scrolls">
      <table class="data deliveries" onClickCapture={() => lastList.set(rows.map(({ id }) => id))}>
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
            <th scope="col">{columns.outcome}</th>
            <th scope="col" class="end">
              {columns.attempt}
            </th>
            <th scope="col" class="end">
              {columns.when}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              {selection && (
                <td class="choose">
                  <Choose row={row} selection={selection} />
                </td>
              )}
              <td>
                <DeliveryStatus status={row.status} />
              </td>
              <td>
                <Link class="name code" href={encoded`/deliveries/${row.id}`}>
                  {plainOf(row.event)}
                </Link>
                {row.trigger !== 'event' && <span class="muted small"> {row.trigger}</span>}
              </td>
              <td class="url sub-cell">{plainOf(row.url)}</td>
              <td class="outcome">{shortOf(outcomeOf(row))}</td>
              <td class="number end">
                <span class="on-card">{columns.attempt} </span>
                {row.attempt}
              </td>
              <td class="end">
                <Ago at={row.completedAt ?? row.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
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

/** Its first sentence: what happened. What to do about it is said with the delivery. */
const shortOf = (text: string): string => /^.*?[.!?](?=\s)/.exec(text)?.[0] ?? text;

/** What became of an attempt, in a sentence or two. */
export function outcomeOf({ error, responseStatus, durationMs, waitsFor, status }: Delivery): string {
  if (error) return plainOf(error.message);
  if (responseStatus !== null) return TEXT.log.answered(responseStatus, durationMs ?? 0);
  return waitsFor ? TEXT.log.waits[waitsFor] : status === 'pending' ? TEXT.log.due : '';
}
