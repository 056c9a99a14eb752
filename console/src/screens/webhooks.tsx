import { Plus, Search } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { Link, useSearchParams } from 'wouter-preact';
import { type AllWebhooks, MOST_WEBHOOKS, useAllWebhooks, useEventTypes, useFoundWebhooks } from '../api/queries';
import { Heading } from '../parts/heading';
import { type Health, HEALTHS } from '../parts/health-rank';
import { Icon } from '../parts/icon';
import { Result } from '../parts/result';
import { Segmented } from '../parts/segmented';
import { WebhookTable } from '../parts/webhook-table';
import { TEXT } from '../text/en';
import { countsOf, isSort, narrowed, SORTS, type Wanted } from './webhooks/narrowed';

/** Number of rows that one click adds. */
const PAGE = 100;

/** Lists all webhooks, with a search and filters by health, event and label. */
export function WebhooksScreen() {
  const [search] = useSearchParams();
  const q = search.get('q') ?? '';
  const all = useAllWebhooks();
  // Those that were not loaded are found by the service.
  const found = useFoundWebhooks(all.data?.isCut ? q : '');
  return (
    <>
      <Heading title={TEXT.webhooks.title}>
        <Link class="button main" href="/webhooks/new">
          <Icon of={Plus} size={15} />
          {TEXT.overview.create}
        </Link>
      </Heading>
      <Result of={found.isEnabled ? found : all} what={TEXT.webhooks.title} lines={8}>
        {(data) => <List all={data} />}
      </Result>
    </>
  );
}

function useWanted(): [Wanted, (name: keyof Wanted, value: string) => void] {
  const [search, setSearch] = useSearchParams();
  const sort = search.get('sort') ?? '';
  const wanted: Wanted = {
    q: search.get('q') ?? '',
    health: HEALTHS.find((each) => each === search.get('health')) ?? 'all',
    event: search.get('event') ?? '',
    label: search.get('label') ?? '',
    sort: isSort(sort) ? sort : 'health',
  };
  const change = (name: keyof Wanted, value: string) =>
    setSearch(
      (before) => {
        if (value === '' || value === 'all') before.delete(name);
        else before.set(name, value);
        return before;
      },
      { replace: true },
    );
  return [wanted, change];
}

function List({ all: { rows, isCut } }: { all: AllWebhooks }) {
  const [wanted, change] = useWanted();
  const [shown, setShown] = useState(PAGE);
  const types = useEventTypes();
  const found = narrowed(rows, wanted);
  const counts = countsOf(narrowed(rows, { ...wanted, health: 'all' }));
  const labels = [...new Set(rows.flatMap(({ metadata }) => Object.entries(metadata).map((pair) => pair.join('='))))];
  const healths = ['all' as const, ...HEALTHS].map((each): [Health | 'all', string] => [
    each,
    `${TEXT.webhooks.healths[each]} ${counts[each]}`,
  ]);
  return (
    <>
      <form class="filter" role="search" aria-label={TEXT.webhooks.search} onSubmit={(event) => event.preventDefault()}>
        <label class="search">
          <span class="unseen">{TEXT.webhooks.search}</span>
          <Icon of={Search} size={15} />
          <input
            type="search"
            placeholder={TEXT.webhooks.search}
            value={wanted.q}
            onInput={({ currentTarget }) => change('q', currentTarget.value)}
          />
        </label>
        <Choice name={TEXT.webhooks.event} value={wanted.event} onChange={(value) => change('event', value)}>
          {(types.data ?? []).map(({ name }): [string, string] => [name, name])}
        </Choice>
        {labels.length > 0 && (
          <Choice name={TEXT.webhooks.label} value={wanted.label} onChange={(value) => change('label', value)}>
            {labels.sort().map((label): [string, string] => [label, label])}
          </Choice>
        )}
        <Choice name={TEXT.webhooks.sort} value={wanted.sort} onChange={(value) => change('sort', value)}>
          {SORTS.map((sort): [string, string] => [sort, TEXT.webhooks.sorts[sort]])}
        </Choice>
      </form>
      <Segmented
        name={TEXT.webhooks.columns.health}
        options={healths}
        value={wanted.health}
        onChange={(value) => change('health', value)}
      />
      {isCut && <p class="muted small">{TEXT.webhooks.cut(MOST_WEBHOOKS)}</p>}
      {found.length === 0 ? <Nothing isFiltered={rows.length > 0} /> : <WebhookTable rows={found.slice(0, shown)} />}
      {found.length > shown && (
        <button type="button" class="button" onClick={() => setShown(shown + PAGE)}>
          {TEXT.showMore}
        </button>
      )}
    </>
  );
}

function Choice({
  name,
  value,
  onChange,
  children,
}: {
  name: string;
  value: string;
  onChange: (next: string) => void;
  children: readonly [value: string, text: string][];
}) {
  const isOptional = !children.some(([each]) => each === 'health');
  return (
    <select aria-label={name} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      {isOptional && <option value="">{name}</option>}
      {children.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  );
}

const Nothing = ({ isFiltered }: { isFiltered: boolean }) => (
  <section class="empty">
    <h2>{isFiltered ? TEXT.webhooks.nothing : TEXT.overview.empty}</h2>
    {isFiltered ? <Link href="/webhooks">{TEXT.webhooks.showAll}</Link> : <p>{TEXT.overview.emptySays}</p>}
  </section>
);
