import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { Link, useSearchParams } from 'wouter-preact';
import { encoded } from '../../api/address';
import { CallError } from '../../api/call';
import { useEventTypes } from '../../api/queries';
import { useSigned } from '../../api/signed';
import type { Recovery, RecoveryResult, Webhook } from '../../api/types';
import { ApiCall } from '../../parts/api-call';
import { Problem } from '../../parts/problem';
import { localText } from '../../parts/time';
import { ERROR_CODES, TEXT } from '../../text/en';
import { RecoveryOutcome } from './outcome';

/**
 * Counts first, then sends. Which recovery it was stands in the address, so that its progress outlives a reload.
 * @param from events from then on, unless the address or somebody says otherwise
 */
export function Recover({ webhook, from }: { webhook: Webhook; from: string }) {
  const { api, may } = useSigned();
  const [search, setSearch] = useSearchParams();
  const queries = useQueryClient();
  const types = useEventTypes();
  const [since, setSince] = useState(search.get('since') ?? from);
  const [event, setEvent] = useState(search.get('event') ?? '');
  const [error, setError] = useState(search.get('error') ?? '');
  const until = search.get('until');
  const path = encoded`webhooks/${webhook.id}/recover`;
  const body = { since, ...(until && { until }), ...(event && { event }), ...(error && { error }) };

  const count = useMutation({
    mutationFn: () => api.send<RecoveryResult>('POST', path, { ...body, dryRun: true }),
  });
  const start = useMutation({
    mutationFn: () => api.send<Recovery>('POST', path, body),
    onSuccess: ({ id }) => {
      count.reset();
      void queries.invalidateQueries();
      setSearch((before) => {
        before.set('recovery', id);
        return before;
      });
    },
  });
  const missed = count.data?.count ?? 0;
  const isComplete = count.data?.complete !== false;
  const lacks = may('webhooks:write') ? null : TEXT.lacks('webhooks:write');
  const cannot = lacks !== null || !webhook.active || since === '';
  const change = (set: (value: string) => void) => (value: string) => {
    set(value);
    count.reset();
  };
  return (
    <>
      <p class="muted">{TEXT.repair.recoverSays}</p>
      <div class="rare">
        <label>
          {TEXT.repair.since}
          <input
            type="datetime-local"
            step={1}
            required
            value={since && localText(new Date(since))}
            onInput={({ currentTarget: { value } }) => change(setSince)(value && new Date(value).toISOString())}
          />
        </label>
        <Choice
          name={TEXT.publish.event}
          value={event}
          options={types.data?.map(({ name }) => name) ?? []}
          onChange={change(setEvent)}
        />
        <Choice name={TEXT.log.names.error} value={error} options={ERROR_CODES} onChange={change(setError)} />
      </div>
      <div class="actions">
        <button type="button" class="button" disabled={cannot || count.isPending} onClick={() => count.mutate()}>
          {TEXT.repair.count}
        </button>
        {count.isSuccess && (
          <>
            <span role="status">{isComplete ? TEXT.repair.counted(missed) : TEXT.repair.countedSome(missed)}</span>
            <button
              type="button"
              class="button main"
              disabled={cannot || (missed === 0 && isComplete) || start.isPending}
              onClick={() => start.mutate()}
            >
              {isComplete ? TEXT.repair.start(missed) : TEXT.repair.startAll}
            </button>
          </>
        )}
      </div>
      {!webhook.active && <p class="muted small">{TEXT.repair.activateFirst}</p>}
      {lacks && <p class="muted small">{lacks}</p>}
      {count.isError && <Problem error={count.error} />}
      {start.isError && <Problem error={start.error} />}
      {start.error instanceof CallError && start.error.code === 'recovery_running' && (
        <p>
          <Link href={encoded`/webhooks/${webhook.id}/recoveries`}>{TEXT.webhook.recoveries}</Link>
        </p>
      )}
      <ApiCall method="POST" path={path} body={body} />
      <RecoveryOutcome webhookId={webhook.id} id={search.get('recovery')} />
    </>
  );
}

function Choice({
  name,
  value,
  options,
  onChange,
}: {
  name: string;
  value: string;
  options: readonly string[];
  onChange: (next: string) => void;
}) {
  return (
    <label>
      {name}
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{TEXT.log.any}</option>
        {options.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  );
}
