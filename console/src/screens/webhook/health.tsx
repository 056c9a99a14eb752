import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useAbout } from '../../api/queries';
import { useSigned } from '../../api/signed';
import type { Stats, Webhook } from '../../api/types';
import { Chart } from '../../parts/bars';
import { Result } from '../../parts/result';
import { At } from '../../parts/time';
import { TEXT } from '../../text/en';
import { Errors } from './errors';

const SPANS = [
  { name: '1 h', ms: 3_600_000, step: '5m' },
  { name: '24 h', ms: 86_400_000, step: '1h' },
  { name: '7 d', ms: 7 * 86_400_000, step: '1h' },
  { name: '30 d', ms: 30 * 86_400_000, step: '1d' },
] as const;

const STEP_MS = { '5m': 300_000, '1h': 3_600_000, '1d': 86_400_000 };

/** How it went: delivered and failed over time, how long answers took, and what failures had in common. */
export function WebhookHealth({ webhook }: { webhook: Webhook }) {
  const { api } = useSigned();
  const [span, setSpan] = useState<(typeof SPANS)[number]>(SPANS[1]);
  const about = useAbout();
  const stats = useQuery({
    queryKey: ['stats', webhook.id, span.name],
    queryFn: ({ signal }) => {
      const since = new Date(Date.now() - span.ms).toISOString();
      return api.get<Stats>('stats', { webhookId: webhook.id, since, step: span.step }, signal);
    },
    refetchInterval: 15_000,
  });
  return (
    <>
      <div class="actions" role="group" aria-label={TEXT.webhook.span}>
        {SPANS.map((each) => (
          <button
            key={each.name}
            type="button"
            class="button"
            aria-pressed={each === span}
            onClick={() => setSpan(each)}
          >
            {each.name}
          </button>
        ))}
      </div>
      <Result of={stats} what={TEXT.webhook.health} lines={5}>
        {(found) => <Numbers stats={found} webhook={webhook} stepMs={STEP_MS[span.step]} />}
      </Result>
      {about && about.disableAfterFailures > 0 && (
        <p class="muted">
          {TEXT.webhook.autoDisable(webhook.consecutiveFailures, about.disableAfterFailures, about.disableAfterHours)}
        </p>
      )}
    </>
  );
}

function Numbers({ stats: { steps, totals }, webhook, stepMs }: { stats: Stats; webhook: Webhook; stepMs: number }) {
  return (
    <>
      <Chart steps={steps} label={TEXT.webhook.health} />
      <dl class="figures">
        {(
          [
            [TEXT.overview.delivered, totals.succeeded],
            [TEXT.webhook.failed, totals.failed],
            ['p50', totals.p50Ms === null ? '–' : `${totals.p50Ms} ms`],
            ['p95', totals.p95Ms === null ? '–' : `${totals.p95Ms} ms`],
          ] as const
        ).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="number">{value}</dd>
          </div>
        ))}
      </dl>
      <Errors counts={totals.byError} webhookId={webhook.id} />
      <details>
        <summary>{TEXT.webhook.asTable}</summary>
        <table class="log">
          <thead>
            <tr>
              <th scope="col">{TEXT.webhook.from}</th>
              <th scope="col" class="end">
                {TEXT.overview.delivered}
              </th>
              <th scope="col" class="end">
                {TEXT.status.failed}
              </th>
            </tr>
          </thead>
          <tbody>
            {steps
              .filter(({ succeeded, failed }) => succeeded + failed > 0)
              .map(({ from, succeeded, failed }) => (
                <tr key={from}>
                  <td>
                    <Link
                      href={encoded`/deliveries?webhookId=${webhook.id}&since=${from}&until=${after(from, stepMs)}`}
                    >
                      <At at={from} />
                    </Link>
                  </td>
                  <td class="number end">{succeeded}</td>
                  <td class="number end">{failed}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </>
  );
}

const after = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString();
