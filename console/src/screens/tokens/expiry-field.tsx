import { useState } from 'preact/hooks';
import { Field } from '../../parts/field';
import { TEXT } from '../../text/en';
import { useTokenName } from './token-name';
import { expiryAfter, latestOf, livesUntil, type Parent } from './token-tree';

const { tokens } = TEXT;

/** The latest expiry that is possible. */
const LATEST = 'latest';
const USUAL_DAYS = 90;

/** The chosen expiry, a way to change it, and the time that it means. */
export function useExpiry(parent: Parent): [string, (next: string) => void, string | null] {
  const now = Date.now();
  const latest = latestOf(parent);
  const lives = livesUntil(latest, now);
  const [chosen, setChosen] = useState<string | null>(null);
  const value = chosen ?? (lives.includes(USUAL_DAYS) ? String(USUAL_DAYS) : LATEST);
  return [value, setChosen, value === LATEST ? latest : expiryAfter(Number(value), now)];
}

/** Offers no expiry beyond that of the parent. */
export function ExpiryField({
  parent,
  value,
  onChange,
}: {
  parent: Parent;
  value: string;
  onChange: (next: string) => void;
}) {
  const nameOf = useTokenName();
  const latest = latestOf(parent);
  const name =
    parent.kind === 'token' ? `“${nameOf(parent.token)}”` : parent.kind === 'session' ? tokens.theSession : null;
  return (
    <Field label={tokens.ends}>
      {(described) => (
        <select {...described} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          {livesUntil(latest, Date.now()).map((days) => (
            <option key={days} value={days}>
              {tokens.days(days)}
            </option>
          ))}
          <option value={LATEST}>
            {latest === null ? tokens.never : tokens.withParent(name ?? tokens.theSession)}
          </option>
        </select>
      )}
    </Field>
  );
}
