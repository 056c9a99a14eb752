import { Download } from 'lucide-preact';
import { useMutation } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { ApiPath, Query } from '../../api/address';
import type { Api } from '../../api/call';
import { useSigned } from '../../api/signed';
import type { Delivery, Page } from '../../api/types';
import { Icon } from '../../parts/icon';
import { TEXT } from '../../text/en';
import { csvOf } from './csv';

const MOST = 10_000;
const PAGE = 250;
const READ_MS = 60_000;
const KINDS = {
  csv: { type: 'text/csv', textOf: csvOf },
  json: { type: 'application/json', textOf: (rows: readonly Delivery[]) => JSON.stringify(rows, null, 2) },
} as const;
type Kind = keyof typeof KINDS;

/** Saves the attempts that match as a file. */
export function Export({ path, query }: { path: ApiPath; query: Query }) {
  const { api } = useSigned();
  const [count, setCount] = useState(0);
  const save = useMutation({
    mutationFn: async (kind: Kind) => {
      const found = await loadAll(api, path, query, setCount);
      download(KINDS[kind].textOf(found.rows), KINDS[kind].type, `deliveries.${kind}`);
      return found;
    },
  });
  return (
    <span class="actions">
      <span role="status" class="muted small">
        {save.isPending && TEXT.log.exporting(count)}
        {save.isSuccess && TEXT.log.exported(save.data.rows.length, save.data.isCut)}
        {save.isError && save.error.message}
      </span>
      {(Object.keys(KINDS) as Kind[]).map((kind) => (
        <button key={kind} type="button" class="button" disabled={save.isPending} onClick={() => save.mutate(kind)}>
          <Icon of={Download} />
          {TEXT.log.exportAs(kind.toUpperCase())}
        </button>
      ))}
    </span>
  );
}

async function loadAll(api: Api, path: ApiPath, query: Query, onCount: (count: number) => void) {
  const rows: Delivery[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Delivery> = await api.page(path, { ...query, limit: PAGE, cursor: cursor ?? undefined });
    rows.push(...page.rows);
    cursor = page.nextCursor;
    onCount(rows.length);
  } while (cursor !== null && rows.length < MOST);
  return { rows, isCut: cursor !== null };
}

function download(text: string, type: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Some browsers begin to read only after the click.
  setTimeout(() => URL.revokeObjectURL(url), READ_MS);
}
