import { useId } from 'preact/hooks';
import type { Webhook } from '../../../api/types';
import { faultAt, faultyParts } from '../../../parts/faults';
import { FaultText } from '../../../parts/field';
import { Rows } from '../../../parts/rows';
import { TEXT } from '../../../text/en';
import { headerChanges, type HeaderRow, storedRows } from './header-rows';
import { Setting, useDraft } from './setting';

const TEXTS = TEXT.settings.headers;
const BLANK: HeaderRow = { name: '', value: '', isStored: false };

/** Headers of the owner. Stored values are never shown, and stay unless one types new ones. */
export function HeadersSetting({ webhook }: { webhook: Webhook }) {
  const [rows, setRows, reset] = useDraft<readonly HeaderRow[]>(storedRows(webhook.headers));
  const headers = headerChanges(webhook.headers, rows);
  return (
    <Setting
      title={TEXTS.title}
      says={TEXTS.says}
      webhook={webhook}
      patch={Object.keys(headers).length === 0 ? {} : { headers }}
      fields={['headers']}
      onReset={reset}
    >
      {(error) => <HeaderRows rows={rows} onChange={setRows} error={error} />}
    </Setting>
  );
}

function HeaderRows({
  rows,
  onChange,
  error,
}: {
  rows: readonly HeaderRow[];
  onChange: (next: readonly HeaderRow[]) => void;
  error: unknown;
}) {
  const id = useId();
  const fault = faultAt(error, 'headers');
  const parts = rows.map(({ name }) => ({ path: `headers.${name.trim()}`, name: name.trim() }));
  const faulty = faultyParts(error, 'headers', parts);
  const tie = (index: number) =>
    faulty[index] ? ({ 'aria-invalid': true, 'aria-describedby': id } as const) : undefined;
  return (
    <div class="row-set">
      {rows.length === 0 && <p class="muted small">{TEXTS.none}</p>}
      <Rows rows={rows} onChange={onChange} blank={BLANK} add={TEXTS.add} remove={TEXTS.remove}>
        {({ name, value, isStored }, change, index) => (
          <>
            <input
              {...(isStored ? undefined : tie(index))}
              aria-label={TEXTS.name(index + 1)}
              placeholder="x-api-key"
              autocomplete="off"
              spellcheck={false}
              readOnly={isStored}
              value={name}
              onInput={({ currentTarget }) => change({ name: currentTarget.value })}
            />
            <input
              {...tie(index)}
              aria-label={isStored ? TEXTS.storedValue(name) : TEXTS.value(index + 1)}
              placeholder={isStored ? TEXTS.hidden : undefined}
              autocomplete="off"
              spellcheck={false}
              value={value}
              onInput={({ currentTarget }) => change({ value: currentTarget.value })}
            />
          </>
        )}
      </Rows>
      {rows.some(({ isStored }) => isStored) && <p class="muted small">{TEXTS.hint}</p>}
      {fault && <FaultText id={id} text={fault} />}
    </div>
  );
}
