import { Link, useSearchParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useEventTypes } from '../api/queries';
import type { EventRow } from '../api/types';
import { Heading } from '../parts/heading';
import { Pages } from '../parts/pages';
import { plainOf } from '../parts/plain';
import { LogTime } from '../parts/time';
import { TEXT } from '../text/en';

/** What has happened, the newest first. */
export function EventsScreen() {
  const [search, setSearch] = useSearchParams();
  const [event, subject] = [search.get('event') ?? '', search.get('subject') ?? ''];
  const query = { ...(event !== '' && { event }), ...(subject !== '' && { subject }) };
  const isAll = event === '' && subject === '';
  const change = (next: Partial<Record<'event' | 'subject', string>>) =>
    setSearch(Object.entries({ event, subject, ...next }).filter(([, value]) => value !== ''));
  const types = useEventTypes();
  return (
    <>
      <Heading title={TEXT.nav.events} />
      <div class="filter-row">
        <label class="narrow">
          {TEXT.publish.event}
          <select value={event} onChange={({ currentTarget: { value } }) => change({ event: value })}>
            <option value="">{TEXT.log.any}</option>
            {types.data?.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="narrow">
          {TEXT.log.columns.subject}
          <input
            type="search"
            key={subject}
            defaultValue={subject}
            onChange={({ currentTarget: { value } }) => change({ subject: value.trim() })}
          />
        </label>
      </div>
      <Pages<EventRow>
        path="events"
        query={query}
        what={TEXT.nav.events}
        empty={
          <section class="empty">
            <h2>{isAll ? TEXT.story.none : TEXT.log.nothing}</h2>
            <Link class="button" href="/publish">
              {TEXT.nav.publish}
            </Link>
          </section>
        }
      >
        {(rows) => <EventRows rows={rows} />}
      </Pages>
    </>
  );
}

const EventRows = ({ rows }: { rows: readonly EventRow[] }) => (
  <div class="card scrolls">
    <table class="data">
      <thead>
        <tr>
          <th scope="col">{TEXT.log.columns.event}</th>
          <th scope="col">{TEXT.log.columns.subject}</th>
          <th scope="col">{TEXT.story.audience}</th>
          <th scope="col" class="end">
            {TEXT.log.columns.created}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <td>
              <Link class="name code" href={encoded`/events/${row.id}`}>
                {plainOf(row.event)}
              </Link>
            </td>
            <td>{row.subject !== null && plainOf(row.subject)}</td>
            <td>{row.userId === null ? TEXT.story.everybody : plainOf(row.userId)}</td>
            <td class="end">
              <LogTime at={row.createdAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
