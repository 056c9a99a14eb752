import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { encoded, type Query, queryOf } from '../api/address';
import { CallError } from '../api/call';
import { useSigned } from '../api/signed';
import type { Delivery } from '../api/types';
import { DeliveryRows } from '../parts/delivery-rows';
import { Heading } from '../parts/heading';
import { LogFilters, useLogFilters } from '../parts/log-filters';
import { Pages } from '../parts/pages';
import { plainOf } from '../parts/plain';
import { TEXT } from '../text/en';

const MOST = 100;

/** All attempts at all webhooks, the newest first. */
export function DeliveriesScreen() {
  const { path, query, filters, change } = useLogFilters();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  return (
    <>
      <Heading title={TEXT.log.title} />
      <LogFilters />
      <Pages<Delivery>
        path={path}
        query={query}
        what={TEXT.log.title}
        empty={<Nothing filters={filters} onDrop={(name) => change(name, [])} />}
      >
        {(rows) => (
          <>
            <Again filters={filters} chosen={rows.filter(({ id }) => ids.has(id))} onDone={() => setIds(new Set())} />
            <DeliveryRows rows={rows} selection={{ ids, onChange: setIds }} />
          </>
        )}
      </Pages>
    </>
  );
}

/** Sends what was chosen again, or leads to sending all that matches. */
function Again({ filters, chosen, onDone }: { filters: Query; chosen: readonly Delivery[]; onDone: () => void }) {
  const { api, may } = useSigned();
  const queries = useQueryClient();
  const redeliver = useMutation({
    mutationFn: async () => {
      const refusals: string[] = [];
      for (const { webhookId, id } of chosen) {
        await api.send('POST', encoded`webhooks/${webhookId}/deliveries/${id}/redeliver`).catch((error: unknown) => {
          if (!(error instanceof CallError) || error.status !== 409) throw error;
          refusals.push(error.message);
        });
      }
      return { sent: chosen.length - refusals.length, refusals };
    },
    onSuccess: onDone,
    onSettled: () => queries.invalidateQueries(),
  });
  const lacks = may('webhooks:write') ? null : TEXT.lacks('webhooks:write');
  return (
    <div class="actions bar">
      <button
        type="button"
        class="button"
        disabled={lacks !== null || chosen.length === 0 || chosen.length > MOST || redeliver.isPending}
        onClick={() => redeliver.mutate()}
      >
        {TEXT.log.redeliver(chosen.length)}
      </button>
      <RecoverAll filters={filters} />
      {chosen.length > MOST && <span class="muted small">{TEXT.log.tooMany(MOST)}</span>}
      {lacks && <span class="muted small">{lacks}</span>}
      <span role="status">
        {redeliver.isSuccess && TEXT.log.redelivered(redeliver.data.sent)}
        {redeliver.isError && redeliver.error.message}
      </span>
      {[...new Set(redeliver.data?.refusals)].map((refusal) => (
        <p key={refusal} class="small">
          {plainOf(refusal)}
        </p>
      ))}
    </div>
  );
}

/** What a recovery can be narrowed by, beside its webhook. */
const NARROWING = ['since', 'until', 'event', 'error'] as const;
/** What is recovered has failed for good, or was canceled. */
const isRecovered = (status: unknown): boolean => status === 'failed' || status === 'canceled';

/** Leads to the step that sends what matches, where a recovery can be just that. */
function RecoverAll({ filters: { webhookId, status, givenUp: _, ...filters } }: { filters: Query }) {
  if (typeof webhookId !== 'string') return <span class="muted small">{TEXT.log.recoverOne}</span>;
  const others = Object.keys(filters).filter((name) => !NARROWING.some((each) => each === name));
  if (!([status ?? []].flat() as unknown[]).every(isRecovered)) others.push('status');
  if (others.length > 0) return <span class="muted small">{TEXT.log.cannotNarrow(others.join(', '))}</span>;
  return (
    <Link class="button" href={encoded`/webhooks/${webhookId}/repair` + queryOf(filters)}>
      {TEXT.log.recoverAll}
    </Link>
  );
}

function Nothing({ filters, onDrop }: { filters: Query; onDrop: (name: string) => void }) {
  const names = Object.keys(filters);
  return names.length === 0 ? (
    <section class="empty">
      <h2>{TEXT.log.empty}</h2>
      <p>{TEXT.log.emptySays}</p>
    </section>
  ) : (
    <section class="empty">
      <h2>{TEXT.log.nothing}</h2>
      <p class="actions">
        {names.map((name) => (
          <button key={name} type="button" class="button" onClick={() => onDrop(name)}>
            {TEXT.log.drop(`${name}=${String(filters[name])}`)}
          </button>
        ))}
      </p>
    </section>
  );
}
