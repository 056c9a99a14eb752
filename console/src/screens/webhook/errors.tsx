import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import { type ErrorCode, TEXT } from '../../text/en';

/** Failures by what they had in common, the most frequent first. */
export function Errors({ counts, webhookId }: { counts: Record<string, number>; webhookId: string }) {
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
              <Link class="code bad" href={encoded`/deliveries?webhookId=${webhookId}&error=${code}`}>
                {code}
              </Link>{' '}
              {TEXT.errors[code as ErrorCode] ?? ''}
            </td>
            <td class="number end">{count.toLocaleString('en')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
