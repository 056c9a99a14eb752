import { Search, X } from 'lucide-preact';
import { useId, useState } from 'preact/hooks';
import { useEventTypes, useWebhooks } from '../api/queries';
import { TEXT } from '../text/en';
import { type Suggestion, suggestionsOf } from './filter-suggestions';
import { idIn } from './find-id';
import { Icon } from './icon';
import { type FilterName, FILTERS, useLogFilters } from './log-filters';
import { plainOf } from './plain';
import { useLookUp } from './use-look-up';
import { nameOf } from './webhook-name';

/** One field for filters and ids, and the filters that hold. */
export function FilterBar({ hasSpans = true }: { hasSpans?: boolean }) {
  const { filters, change } = useLogFilters();
  const known = useKnown();
  const chips = FILTERS.filter((name) => name !== 'state' && name !== 'last' && filters[name] !== undefined);
  return (
    <div class="filter-row">
      <div class="filter-box">
        <Icon of={Search} />
        {chips.map((name) => (
          <span key={name} class="filter-chip">
            {TEXT.log.names[name]} <b>{valueText(name, filters[name], known.webhooks)}</b>
            <button type="button" aria-label={TEXT.log.drop(TEXT.log.names[name])} onClick={() => change(name, [])}>
              <Icon of={X} size={12} />
            </button>
          </span>
        ))}
        <SearchField
          suggest={(text) => suggestionsOf(text, known)}
          onTake={({ name, value }) => change(name, [value])}
        />
      </div>
      {hasSpans && (
        <select
          aria-label={TEXT.log.spans}
          value={String(filters.last ?? '')}
          onChange={({ currentTarget }) => change('last', [currentTarget.value])}
        >
          {Object.entries(TEXT.log.lasts).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

type Known = Parameters<typeof suggestionsOf>[1];

function useKnown(): Known {
  const types = useEventTypes();
  const webhooks = useWebhooks();
  return { types: types.data ?? [], webhooks: webhooks.data?.rows ?? [] };
}

function valueText(name: FilterName, value: unknown, webhooks: Known['webhooks']): string {
  const texts = [value].flat().map(String);
  if (name !== 'webhookId') return plainOf(texts.join(', '));
  return texts
    .map((id) => webhooks.find((webhook) => webhook.id === id))
    .map((webhook, i) => (webhook ? nameOf(webhook) : plainOf(texts[i] ?? '')))
    .join(', ');
}

/** A combobox: it offers the filters that the text can mean, and goes to an id. */
function SearchField({
  suggest,
  onTake,
}: {
  suggest: (text: string) => Suggestion[];
  onTake: (suggestion: Suggestion) => void;
}) {
  const list = useId();
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const { lookUp, isPending, said, forget } = useLookUp();
  const id = idIn(text);
  const offered = isOpen && id === null ? suggest(text) : [];
  const take = (suggestion: Suggestion | undefined) => {
    if (!suggestion) return;
    onTake(suggestion);
    setText('');
    setOpen(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') return id === null ? take(offered[at]) : lookUp(id);
    if (event.key === 'Escape' && isOpen) return stop(event, () => setOpen(false));
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    stop(event, () => setOpen(true));
    setAt((at + (event.key === 'ArrowDown' ? 1 : -1) + offered.length) % Math.max(1, offered.length));
  };
  return (
    <div class="combobox">
      <input
        type="search"
        role="combobox"
        aria-label={TEXT.log.filter}
        aria-expanded={offered.length > 0}
        aria-controls={list}
        aria-activedescendant={offered[at] && `${list}-${at}`}
        autocomplete="off"
        placeholder={TEXT.log.filterBy}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setAt(0);
          setOpen(true);
          forget();
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <ul id={list} role="listbox" aria-label={TEXT.log.filter} hidden={offered.length === 0}>
        {offered.map((suggestion, i) => (
          <li
            key={suggestion.name + suggestion.value}
            id={`${list}-${i}`}
            role="option"
            aria-selected={i === at}
            // Before the field loses the focus, and the list with it.
            onMouseDown={(event) => stop(event, () => take(suggestion))}
          >
            <span class="muted">{TEXT.log.names[suggestion.name]}</span> {suggestion.text}
          </li>
        ))}
      </ul>
      <span role="status" class="small">
        {isPending ? TEXT.lookUp.looking : said}
        {text !== '' && isOpen && offered.length === 0 && (id === null ? TEXT.log.noFilter : TEXT.lookUp.enter)}
      </span>
    </div>
  );
}

function stop(event: Event, act: () => void): void {
  event.preventDefault();
  act();
}
