import { encoded } from '../../api/address';
import type { Recovery, Webhook } from '../../api/types';
import { Pages } from '../../parts/pages';
import { At } from '../../parts/time';
import { TEXT } from '../../text/en';

/** What was sent again, and how far it has come. */
export const WebhookRecoveries = ({ webhook }: { webhook: Webhook }) => (
  <Pages<Recovery>
    path={encoded`webhooks/${webhook.id}/recoveries`}
    what={TEXT.webhook.recoveries}
    everyMs={(rows) => (rows.some(({ status }) => status === 'running') ? 1000 : false)}
    empty={
      <section class="empty">
        <h2>{TEXT.webhook.noRecovery}</h2>
      </section>
    }
  >
    {(rows) => (
      <table class="log">
        <thead>
          <tr>
            <th scope="col">{TEXT.webhook.begun}</th>
            <th scope="col">{TEXT.webhook.progress}</th>
            <th scope="col" class="end">
              {TEXT.webhook.events}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((recovery) => (
            <tr key={recovery.id}>
              <td>
                <At at={recovery.createdAt} />
              </td>
              <td>
                <Progress recovery={recovery} />
              </td>
              <td class="number end">{recovery.count ?? '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </Pages>
);

/** How many events of a recovery are queued, of how many once that is known. */
const Progress = ({ recovery: { count, queued, status } }: { recovery: Recovery }) => {
  const isDone = status === 'done';
  const max = Math.max(1, count ?? 1);
  return (
    <span class="progress">
      <progress max={max} value={isDone ? max : count === null ? undefined : queued} aria-label="queued" />
      <span class="number small muted">
        {isDone ? TEXT.webhook.done : count === null ? queued : `${queued} / ${count}`}
      </span>
    </span>
  );
};
