import { dateOf, useUtc } from '../../parts/time';
import { TEXT } from '../../text/en';
import { useTokenName } from './token-name';
import type { Parent } from './token-tree';

const { parent: says } = TEXT.tokens;

/** Says what a new token is revoked with, and what bounds its life. */
export function ParentNote({ parent }: { parent: Parent }) {
  const [isUtc] = useUtc();
  const nameOf = useTokenName();
  if (parent.kind !== 'token') return <p class="notice calm">{says[parent.kind]}</p>;
  const name = nameOf(parent.token);
  const { expiresAt } = parent.token;
  return (
    <p class="notice calm">
      {says.token(name)} {says.outlives} {expiresAt && says.until(name, dateOf(expiresAt, isUtc))}
    </p>
  );
}
