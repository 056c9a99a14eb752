import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import type { Webhook } from '../../api/types';
import { isPull } from '../../parts/webhook-kind';
import { type ErrorCode, TEXT } from '../../text/en';

/** Failures by what they had in common, the most frequent first. */
export function Errors({ counts, webhook }: { counts: Record<string, number>; webhook: Pick<Webhook, 'id' | 'kind'> }) {
  const errors = Object.entries(counts).sort(([, a], [, b]) => b - a);
  if (errors.length === 0) return <p class="nothing muted">{TEXT.webhook.noFailure}</p>;
  return (
    <table class="data">
      <thead>
        <tr>
          <th scope="col">{TEXT.webhook.whyFailed}</th>
          <th scope="col" class="end">
            {TEXT.webhook.count}
          </th>
        </tr>
      </thead>
      <tbody>
        {errors.map(([code, count]) => (
          <tr key={code}>
            <td class="first">
              <Link class="code bad" href={encoded`/deliveries?webhookId=${webhook.id}&error=${code}`}>
                {code}
              </Link>{' '}
              {isPull(webhook) && code === 'timeout' ? TEXT.pull.timeout : (TEXT.errors[code as ErrorCode] ?? '')}
            </td>
            <td class="number end">{count.toLocaleString('en')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
