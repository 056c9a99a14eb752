import { useQuery } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useSigned } from '../../api/signed';
import type { Account, EventRow } from '../../api/types';
import { plainOf } from '../../parts/plain';
import { Result } from '../../parts/result';
import { Ago } from '../../parts/time';
import { TEXT } from '../../text/en';

const { accounts } = TEXT;
const NAMES = ['follower.gained', 'follower.lost'] as const;
/** The API filters events by name, not by account: this number of each name is read. */
const SEARCHED = 100;
const SHOWN = 10;

/** The newest events that an account has published, with links to all of their kind. */
export function AccountEvents({ account }: { account: Account }) {
  const { api, may } = useSigned();
  const events = useQuery({
    // A new list brings new events.
    queryKey: ['account-events', account.id, account.lastReadAt],
    queryFn: async ({ signal }) => {
      const pages = NAMES.map((event) => api.page<EventRow>('events', { event, limit: SEARCHED }, { signal }));
      return (await Promise.all(pages))
        .flatMap(({ rows }) => rows)
        .filter(({ data }) => data.accountId === account.id)
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, SHOWN);
    },
    enabled: may('deliveries:read'),
    placeholderData: (before) => before,
  });
  return (
    <section aria-labelledby="account-events">
      <div class="heading">
        <h2 id="account-events">{accounts.events}</h2>
        <p class="actions">
          {NAMES.map((event) => (
            <Link key={event} href={encoded`/events?event=${event}`}>
              {accounts.allOf(event)}
            </Link>
          ))}
        </p>
      </div>
      {may('deliveries:read') ? (
        <Result of={events} what={accounts.events}>
          {(rows) =>
            rows.length === 0 ? (
              <p class="muted">{accounts.noEvents(SEARCHED * NAMES.length)}</p>
            ) : (
              <EventRows rows={rows} />
            )
          }
        </Result>
      ) : (
        <p class="muted">{TEXT.lacks('deliveries:read')}</p>
      )}
    </section>
  );
}

const EventRows = ({ rows }: { rows: readonly EventRow[] }) => (
  <table class="log">
    <thead>
      <tr>
        <th scope="col">{TEXT.log.columns.event}</th>
        <th scope="col">{accounts.follower}</th>
        <th scope="col" class="end">
          {TEXT.log.columns.when}
        </th>
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <tr key={row.id}>
          <td>
            <Link href={encoded`/events/${row.id}`}>{plainOf(row.event)}</Link>
          </td>
          <td>{plainOf(followerOf(row))}</td>
          <td class="end">
            <Ago at={row.createdAt} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

/** The name of the follower in an event. */
function followerOf({ data }: EventRow): string {
  const { username } = (data.follower ?? {}) as { username?: unknown };
  return typeof username === 'string' ? username : '–';
}
