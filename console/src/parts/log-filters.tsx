import { useSearchParams } from 'wouter-preact';
import { type ApiPath, encoded, type Query } from '../api/address';
import { useEventTypes, useWebhooks } from '../api/queries';
import type { Status } from '../api/types';
import { ERROR_CODES, TEXT } from '../text/en';
import { plainOf } from './plain';
import { localText } from './time';

/** What the log can be asked for; each stands in the address of the screen, so that it can be kept and passed on. */
const NAMES = [
  ...['webhookId', 'status', 'givenUp', 'event', 'error', 'responseStatus', 'trigger', 'eventId', 'since', 'until'],
] as const;
const STATUSES: Status[] = ['pending', 'succeeded', 'failed', 'canceled'];
const ANSWERS = ['2xx', '3xx', '4xx', '5xx', 'none'];
const TRIGGERS = ['event', 'redelivery', 'test'];
const SPANS = [
  ['1 h', 3_600_000],
  ['24 h', 86_400_000],
  ['7 d', 604_800_000],
] as const;

/** The filters of the address, and ways to change them. */
export function useLogFilters() {
  const [search, setSearch] = useSearchParams();
  const filters = Object.fromEntries(
    NAMES.flatMap((name) => {
      const values = search.getAll(name);
      return values.length === 0 ? [] : [[name, values.length === 1 ? values[0] : values]];
    }),
  ) as Query;
  const { webhookId, ...query } = filters;
  const path: ApiPath = typeof webhookId === 'string' ? encoded`webhooks/${webhookId}/deliveries` : 'deliveries';
  const change = (name: string, values: readonly string[]) =>
    setSearch((before) => {
      before.delete(name);
      for (const value of values) if (value !== '') before.append(name, value);
      return before;
    });
  return {
    filters,
    change,
    /** The list that these filters are about. */
    path,
    query,
  };
}

export function LogFilters() {
  const { filters, change } = useLogFilters();
  const statuses = [filters.status ?? []].flat() as string[];
  const rare = NAMES.filter((name) => name !== 'status' && name !== 'givenUp' && filters[name] !== undefined);
  return (
    <form class="filters" aria-label={TEXT.log.filter} onSubmit={(event) => event.preventDefault()}>
      <fieldset>
        <legend class="unseen">{TEXT.log.status}</legend>
        {STATUSES.map((status) => (
          <Chip
            key={status}
            name={TEXT.status[status]}
            isOn={statuses.includes(status)}
            onChange={(isOn) =>
              change('status', isOn ? [...statuses, status] : statuses.filter((each) => each !== status))
            }
          />
        ))}
        <Chip
          name={TEXT.log.gaveUp}
          isOn={filters.givenUp === 'true'}
          onChange={(isOn) => change('givenUp', isOn ? ['true'] : [])}
        />
      </fieldset>
      <details open={rare.length > 0}>
        <summary>{TEXT.log.more}</summary>
        <RareFilters />
      </details>
    </form>
  );
}

const Chip = ({ name, isOn, onChange }: { name: string; isOn: boolean; onChange: (isOn: boolean) => void }) => (
  <label class="chip">
    <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
    {name}
  </label>
);

function RareFilters() {
  const { filters, change } = useLogFilters();
  const webhooks = useWebhooks();
  const types = useEventTypes();
  const hooks = (webhooks.data?.rows ?? []).map(({ id, url }): [string, string] => [id, plainOf(url)]);
  const events = (types.data ?? []).map(({ name }): [string, string] => [name, name]);
  const choice = (name: (typeof NAMES)[number], options: [string, string][]) => (
    <label>
      {TEXT.log.names[name]}
      <select value={String(filters[name] ?? '')} onChange={({ currentTarget }) => change(name, [currentTarget.value])}>
        <option value="">{TEXT.log.any}</option>
        {withChosen(options, filters[name]).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
  const time = (name: 'since' | 'until') => (
    <label>
      {TEXT.log.names[name]}
      <input
        type="datetime-local"
        step={1}
        value={typeof filters[name] === 'string' ? textOf(filters[name]) : ''}
        onChange={({ currentTarget: { value } }) => change(name, [value && new Date(value).toISOString()])}
      />
    </label>
  );
  return (
    <div class="rare">
      {choice('webhookId', hooks)}
      {choice('event', events)}
      {choice(
        'error',
        ERROR_CODES.map((code) => [code, code]),
      )}
      {choice(
        'responseStatus',
        ANSWERS.map((answer) => [answer, TEXT.log.answers[answer] ?? answer]),
      )}
      {choice(
        'trigger',
        TRIGGERS.map((trigger) => [trigger, trigger]),
      )}
      {time('since')}
      {time('until')}
      <div class="actions" role="group" aria-label={TEXT.log.spans}>
        {SPANS.map(([name, ms]) => (
          <button
            key={name}
            type="button"
            class="button"
            onClick={() => change('since', [new Date(Date.now() - ms).toISOString()])}
          >
            {TEXT.log.last(name)}
          </button>
        ))}
      </div>
    </div>
  );
}

/** What is asked for stays to be seen, also when it is none of what is known. */
const withChosen = (options: [string, string][], chosen: Query[string]): [string, string][] =>
  typeof chosen !== 'string' || options.some(([value]) => value === chosen) ? options : [...options, [chosen, chosen]];

const textOf = (at: string): string => (Number.isNaN(Date.parse(at)) ? '' : localText(new Date(at)));
