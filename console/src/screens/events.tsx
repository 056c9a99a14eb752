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
  const event = search.get('event') ?? '';
  const types = useEventTypes();
  return (
    <>
      <Heading title={TEXT.nav.events} />
      <label class="narrow">
        {TEXT.publish.event}
        <select
          value={event}
          onChange={({ currentTarget: { value } }) => setSearch(value === '' ? {} : { event: value })}
        >
          <option value="">{TEXT.log.any}</option>
          {types.data?.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Pages<EventRow>
        path="events"
        query={event === '' ? {} : { event }}
        what={TEXT.nav.events}
        empty={
          <section class="empty">
            <h2>{event === '' ? TEXT.story.none : TEXT.log.nothing}</h2>
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
