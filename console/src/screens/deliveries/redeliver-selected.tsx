import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { CallError } from '../../api/call';
import { useSigned } from '../../api/signed';
import type { Delivery } from '../../api/types';
import { plainOf } from '../../parts/plain';
import { redeliverPath } from '../../parts/redeliver';
import { TEXT } from '../../text/en';

const MOST = 100;

/** Sends the selected attempts again. */
export function RedeliverSelected({ chosen, onDone }: { chosen: readonly Delivery[]; onDone: () => void }) {
  const { api, may } = useSigned();
  const queries = useQueryClient();
  const redeliver = useMutation({
    mutationFn: async () => {
      const refusals: string[] = [];
      for (const delivery of chosen) {
        await api.send('POST', redeliverPath(delivery)).catch((error: unknown) => {
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
    <>
      <button
        type="button"
        class="button small"
        disabled={lacks !== null || chosen.length === 0 || chosen.length > MOST || redeliver.isPending}
        onClick={() => redeliver.mutate()}
      >
        {TEXT.log.redeliver(chosen.length)}
      </button>
      {chosen.length > MOST && <span class="muted small">{TEXT.log.tooMany(MOST)}</span>}
      {lacks && <span class="muted small">{lacks}</span>}
      <span role="status" class="small">
        {redeliver.isSuccess && TEXT.log.redelivered(redeliver.data.sent)}
        {redeliver.isError && redeliver.error.message}
      </span>
      {[...new Set(redeliver.data?.refusals)].map((refusal) => (
        <p key={refusal} class="small">
          {plainOf(refusal)}
        </p>
      ))}
    </>
  );
}
