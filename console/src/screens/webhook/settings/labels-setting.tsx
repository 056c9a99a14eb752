import { useId } from 'preact/hooks';
import type { Webhook } from '../../../api/types';
import { faultAt, faultyParts } from '../../../parts/faults';
import { FaultText, TextField } from '../../../parts/field';
import { invalid } from '../../../parts/invalid';
import { Rows } from '../../../parts/rows';
import { TEXT } from '../../../text/en';
import { type Patch, Setting, useDraft } from './setting';

const TEXTS = TEXT.settings.labels;

interface Label {
  name: string;
  value: string;
}

/** Labels, and the id that the owner's programs use. */
export function LabelsSetting({ webhook }: { webhook: Webhook }) {
  const storedRows = Object.entries(webhook.metadata).map(([name, value]): Label => ({ name, value }));
  const [rows, setRows, resetRows] = useDraft<readonly Label[]>(storedRows);
  const [externalId, setExternalId, resetId] = useDraft(webhook.externalId ?? '');
  const { metadata, repeated } = metadataOf(rows);
  const patch: Patch = {
    ...(JSON.stringify(metadata) !== JSON.stringify(webhook.metadata) && { metadata }),
    ...(externalId !== (webhook.externalId ?? '') && { externalId: externalId || null }),
  };
  return (
    <Setting
      title={TEXTS.title}
      says={TEXTS.says}
      webhook={webhook}
      patch={patch}
      fault={repeated === null ? null : invalid(`metadata.${repeated}`, TEXTS.repeated(repeated))}
      fields={['metadata', 'externalId']}
      onReset={() => {
        resetRows();
        resetId();
      }}
    >
      {(error) => (
        <>
          <LabelRows rows={rows} onChange={setRows} error={error} />
          <TextField
            label={TEXTS.externalId}
            hint={TEXTS.externalIdHint}
            error={faultAt(error, 'externalId')}
            spellcheck={false}
            value={externalId}
            onValue={setExternalId}
          />
        </>
      )}
    </Setting>
  );
}

function LabelRows({
  rows,
  onChange,
  error,
}: {
  rows: readonly Label[];
  onChange: (next: readonly Label[]) => void;
  error: unknown;
}) {
  const id = useId();
  const fault = faultAt(error, 'metadata');
  const faulty = faultyParts(
    error,
    'metadata',
    rows.map(({ name }) => ({ path: `metadata.${name.trim()}`, name: name.trim() })),
  );
  const tie = (index: number) =>
    faulty[index] ? ({ 'aria-invalid': true, 'aria-describedby': id } as const) : undefined;
  return (
    <fieldset class="row-set">
      <legend>{TEXTS.labels}</legend>
      {rows.length === 0 && <p class="muted small">{TEXTS.none}</p>}
      <Rows rows={rows} onChange={onChange} blank={{ name: '', value: '' }} add={TEXTS.add} remove={TEXTS.remove}>
        {({ name, value }, change, index) => (
          <>
            <input
              {...tie(index)}
              aria-label={TEXTS.name(index + 1)}
              placeholder={TEXTS.namePlaceholder}
              spellcheck={false}
              value={name}
              onInput={({ currentTarget }) => change({ name: currentTarget.value })}
            />
            <input
              {...tie(index)}
              aria-label={TEXTS.value(index + 1)}
              placeholder={TEXTS.valuePlaceholder}
              value={value}
              onInput={({ currentTarget }) => change({ value: currentTarget.value })}
            />
          </>
        )}
      </Rows>
      {fault && <FaultText id={id} text={fault} />}
    </fieldset>
  );
}

/** The labels by name, and the first name that two rows have. Rows without any text do not count. */
function metadataOf(rows: readonly Label[]): { metadata: Record<string, string>; repeated: string | null } {
  const entries = rows
    .map(({ name, value }) => [name.trim(), value] as const)
    .filter(([name, value]) => name !== '' || value !== '');
  const names = entries.map(([name]) => name);
  return {
    metadata: Object.fromEntries(entries),
    repeated: names.find((name, i) => names.indexOf(name) < i) ?? null,
  };
}
