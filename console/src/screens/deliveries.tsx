import { Activity } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { type Query, queryOf } from '../api/address';
import type { Delivery } from '../api/types';
import { DeliveryRows } from '../parts/delivery-rows';
import { FilterBar } from '../parts/filter-bar';
import { Heading } from '../parts/heading';
import { Icon } from '../parts/icon';
import { type FilterName, useLogFilters } from '../parts/log-filters';
import { Pages } from '../parts/pages';
import { Segmented } from '../parts/segmented';
import { TEXT } from '../text/en';
import { Drawer } from './deliveries/drawer';
import { Export } from './deliveries/export';
import { Matching } from './deliveries/matching';
import { RedeliverSelected } from './deliveries/redeliver-selected';
import { useOpen } from './deliveries/use-open';

const REFRESH_MS = 15_000;
/** The list is not read again once a person has gone further. */
const MOST_REFRESHED = 50;

/** The log of all webhooks, the newest first. */
export function DeliveriesScreen() {
  const { path, query, filters, change } = useLogFilters();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const { open, takesFocus, show, close, onClickCapture } = useOpen();
  const isStill = ids.size > 0 || open !== null;
  return (
    <>
      <Heading title={TEXT.log.title}>
        <div class="actions">
          <Export path={path} query={query} />
          <Link class="button" href={`/live${queryOf({ ...filters, state: undefined, last: undefined })}`}>
            <Icon of={Activity} />
            {TEXT.live.title}
          </Link>
        </div>
      </Heading>
      <FilterBar />
      <div class="filter-row">
        <States />
        <Matching />
      </div>
      <div class={open === null ? '' : 'beside'}>
        <div class="listed" onClickCapture={onClickCapture}>
          <Pages<Delivery>
            path={path}
            query={query}
            what={TEXT.log.title}
            everyMs={(rows) => (!isStill && rows.length <= MOST_REFRESHED ? REFRESH_MS : false)}
            empty={<Nothing filters={filters} onDrop={(name) => change(name, [])} />}
          >
            {(rows) => (
              <>
                <DeliveryRows rows={rows} selection={{ ids, onChange: setIds }} open={open ?? undefined} />
                <div class="actions">
                  <RedeliverSelected chosen={rows.filter(({ id }) => ids.has(id))} onDone={() => setIds(new Set())} />
                </div>
              </>
            )}
          </Pages>
        </div>
        {open !== null && <Drawer id={open} takesFocus={takesFocus} onOpen={show} onClose={close} />}
      </div>
    </>
  );
}

const STATES = ['', 'delivered', 'waiting', 'retrying', 'gave_up', 'canceled'] as const;

/** A state is that of the newest attempt of an event at a webhook; without one, all attempts are listed. */
function States() {
  const { filters, change } = useLogFilters();
  const options = STATES.map((state) => [state, state === '' ? TEXT.log.all : TEXT.outcomes[state]] as const);
  return (
    <Segmented
      name={TEXT.log.status}
      options={options}
      value={STATES.find((state) => state === filters.state) ?? ''}
      onChange={(state) => change('state', [state])}
    />
  );
}

function Nothing({ filters, onDrop }: { filters: Query; onDrop: (name: FilterName) => void }) {
  const names = Object.keys(filters) as FilterName[];
  return names.length === 0 ? (
    <section class="empty">
      <h2>{TEXT.log.empty}</h2>
      <p>{TEXT.log.emptySays}</p>
    </section>
  ) : (
    <section class="empty">
      <h2>{TEXT.log.nothing}</h2>
      <p class="actions">
        {names.map((name) => (
          <button key={name} type="button" class="button" onClick={() => onDrop(name)}>
            {TEXT.log.drop(`${name}=${String(filters[name])}`)}
          </button>
        ))}
      </p>
    </section>
  );
}
