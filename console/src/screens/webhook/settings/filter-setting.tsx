import type { CallError } from '../../../api/call';
import type { Webhook } from '../../../api/types';
import { faultAt } from '../../../parts/faults';
import { Field } from '../../../parts/field';
import { invalid } from '../../../parts/invalid';
import { TEXT } from '../../../text/en';
import { FilterBuilder } from './filter-builder';
import { FilterCheck } from './filter-check';
import { type Condition, conditionsOf, type Filter, filterOf } from './filter-rows';
import { pathsOf } from './found';
import { useSamples } from './samples';
import { Setting, useDraft } from './setting';

const TEXTS = TEXT.settings.filter;

/** A filter as one edits it: in rows, or as JSON. */
type Draft = { rows: readonly Condition[] } | { json: string };

/** Conditions on the content of events, which can be checked before they are saved. */
export function FilterSetting({ webhook }: { webhook: Webhook }) {
  const [draft, setDraft, reset] = useDraft(draftOf(webhook.filter));
  const samples = useSamples(webhook);
  const { filter, fault } = parsed(draft);
  // Rows make the shortest form of a filter, which may not be the stored one.
  const stored = parsed(draftOf(webhook.filter)).filter;
  const isSame = JSON.stringify(filter) === JSON.stringify(stored);
  const paths = new Set(['event', 'userId', 'subject', ...samples.flatMap(({ data }) => pathsOf(data, 'data'))]);
  return (
    <Setting
      title={TEXTS.title}
      says={TEXTS.says}
      webhook={webhook}
      patch={isSame || fault ? {} : { filter }}
      fault={fault}
      fields={['filter']}
      onReset={reset}
      after={filter && <FilterCheck filter={filter} samples={samples} />}
    >
      {(error) => (
        <>
          {'rows' in draft ? (
            <FilterBuilder
              rows={draft.rows}
              onChange={(rows) => setDraft({ rows })}
              error={error}
              suggested={[...paths]}
            />
          ) : (
            <JsonField value={draft.json} onValue={(json) => setDraft({ json })} error={faultAt(error, 'filter')} />
          )}
          <SwitchMode draft={draft} filter={filter} isValid={fault === null} onChange={setDraft} />
        </>
      )}
    </Setting>
  );
}

function JsonField({
  value,
  onValue,
  error,
}: {
  value: string;
  onValue: (next: string) => void;
  error: string | null;
}) {
  return (
    <Field label={TEXTS.json} hint={TEXTS.jsonHint} error={error}>
      {(tie) => (
        <textarea
          {...tie}
          rows={8}
          spellcheck={false}
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** Goes on with the same filter in the other form, if that can show it. */
function SwitchMode({
  draft,
  filter,
  isValid,
  onChange,
}: {
  draft: Draft;
  filter: Filter | null;
  isValid: boolean;
  onChange: (next: Draft) => void;
}) {
  const rows = isValid ? conditionsOf(filter) : null;
  if ('rows' in draft)
    return (
      <p>
        <button
          type="button"
          class="button small"
          disabled={!isValid}
          onClick={() => onChange({ json: jsonOf(filter) })}
        >
          {TEXTS.editJson}
        </button>
      </p>
    );
  return (
    <p class="actions">
      <button type="button" class="button small" disabled={!rows} onClick={() => rows && onChange({ rows })}>
        {TEXTS.editRows}
      </button>
      {isValid && !rows && <span class="muted small">{TEXTS.noRows}</span>}
    </p>
  );
}

const jsonOf = (filter: Filter | null): string => (filter === null ? '' : JSON.stringify(filter, null, 2));

function draftOf(filter: Filter | null): Draft {
  const rows = conditionsOf(filter);
  return rows ? { rows } : { json: jsonOf(filter) };
}

interface Parsed {
  filter: Filter | null;
  fault: CallError | null;
}

function parsed(draft: Draft): Parsed {
  if ('json' in draft) return parsedJson(draft.json);
  const made = filterOf(draft.rows);
  if ('filter' in made) return { filter: made.filter, fault: null };
  const path = draft.rows[made.repeated]?.path.trim() ?? '';
  return { filter: null, fault: invalid(`filter[${JSON.stringify(path)}]`, TEXTS.repeated(path)) };
}

function parsedJson(text: string): Parsed {
  if (text.trim() === '') return { filter: null, fault: null };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && !Array.isArray(value)) return { filter: value as Filter | null, fault: null };
    return { filter: null, fault: invalid('filter', TEXTS.notObject) };
  } catch (error) {
    return { filter: null, fault: invalid('filter', TEXTS.notJson(error instanceof Error ? error.message : '')) };
  }
}
