import { useId } from 'preact/hooks';
import { faultAt, faultyParts } from '../../../parts/faults';
import { FaultText, type Tie } from '../../../parts/field';
import { Rows } from '../../../parts/rows';
import { TEXT } from '../../../text/en';
import { type Condition, type Operator, OPERATORS } from './filter-rows';

const TEXTS = TEXT.settings.filter;
const BLANK: Condition = { path: '', operator: 'eq', value: '' };

/** The conditions of a filter in rows. */
export function FilterBuilder({
  rows,
  onChange,
  error,
  suggested,
}: {
  rows: readonly Condition[];
  onChange: (next: readonly Condition[]) => void;
  error: unknown;
  /** Suggested for a condition. */
  suggested: readonly string[];
}) {
  const id = useId();
  const fault = faultAt(error, 'filter');
  const parts = rows.map(({ path }) => ({ path: `filter[${JSON.stringify(path.trim())}]`, name: path.trim() }));
  const paths = faultyParts(error, 'filter', parts);
  const operands = rows.map(({ operator }, i) => faultAt(error, `${parts[i]?.path}.${operator}`) !== null);
  const tie = (isFaulty = false): Tied => (isFaulty ? { 'aria-invalid': true, 'aria-describedby': `${id}-error` } : {});
  return (
    <div class="row-set">
      {rows.length === 0 && <p class="muted small">{TEXTS.none}</p>}
      <Rows rows={rows} onChange={onChange} blank={BLANK} add={TEXTS.add} remove={TEXTS.remove}>
        {({ path, operator, value }, change, index) => (
          <>
            <input
              {...tie(paths[index] && !operands.includes(true))}
              class="path"
              aria-label={TEXTS.path(index + 1)}
              list={`${id}-paths`}
              placeholder={TEXTS.pathPlaceholder}
              spellcheck={false}
              value={path}
              onInput={({ currentTarget }) => change({ path: currentTarget.value })}
            />
            <OperatorSelect label={TEXTS.operator(index + 1)} operator={operator} value={value} onChange={change} />
            <Operand
              label={TEXTS.value(index + 1)}
              operator={operator}
              value={value}
              onChange={change}
              tied={tie(operands[index])}
            />
          </>
        )}
      </Rows>
      <datalist id={`${id}-paths`}>
        {suggested.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      {rows.length > 0 && <p class="muted small">{TEXTS.hint}</p>}
      {fault && <FaultText id={`${id}-error`} text={fault} />}
    </div>
  );
}

type Tied = Partial<Omit<Tie, 'id'>>;

interface Part {
  label: string;
  operator: Operator;
  value: string;
  onChange: (next: Partial<Condition>) => void;
}

const OperatorSelect = ({ label, operator, value, onChange }: Part) => (
  <select
    class="operator"
    aria-label={label}
    value={operator}
    onChange={({ currentTarget }) => {
      const next = currentTarget.value as Operator;
      onChange({ operator: next, value: next === 'exists' ? 'true' : operator === 'exists' ? '' : value });
    }}
  >
    {OPERATORS.map((each) => (
      <option key={each} value={each}>
        {TEXTS.operators[each]}
      </option>
    ))}
  </select>
);

const Operand = ({ label, operator, value, onChange, tied }: Part & { tied: Tied }) =>
  operator === 'exists' ? (
    <select
      {...tied}
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => onChange({ value: currentTarget.value })}
    >
      <option value="true">{TEXTS.yes}</option>
      <option value="false">{TEXTS.no}</option>
    </select>
  ) : (
    <input
      {...tied}
      aria-label={label}
      spellcheck={false}
      value={value}
      onInput={({ currentTarget }) => onChange({ value: currentTarget.value })}
    />
  );
