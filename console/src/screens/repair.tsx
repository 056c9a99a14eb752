import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { Link, useParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useSigned } from '../api/signed';
import type { Delivery, Stats, Webhook } from '../api/types';
import { Chart } from '../parts/chart';
import { DeliveryRows } from '../parts/delivery-rows';
import { Heading } from '../parts/heading';
import { plainOf } from '../parts/plain';
import { Problem } from '../parts/problem';
import { Result } from '../parts/result';
import { barMs, barsOf } from '../parts/spans';
import { useStats } from '../parts/use-stats';
import { WebhookState } from '../parts/status';
import { At } from '../parts/time';
import { TEXT } from '../text/en';
import { Recover } from './repair/recover';
import { TestWebhook, useActive } from './webhook/actions';
import { Errors } from './webhook/errors';

const DAY_MS = 86_400_000;
const EXAMPLES = 5;

/** My receiver was down: see, understand, test, activate, recover. It can be left at any step, and come back to. */
export function RepairScreen() {
  const { api } = useSigned();
  const { id = '' } = useParams();
  const webhook = useQuery({
    queryKey: ['webhook', id],
    queryFn: ({ signal }) => api.get<Webhook>(encoded`webhooks/${id}`, {}, signal),
  });
  const failures = useQuery({
    queryKey: ['failures', id],
    queryFn: ({ signal }) =>
      api.page<Delivery>(encoded`webhooks/${id}/deliveries`, { givenUp: true, limit: EXAMPLES }, { signal }),
  });
  const stats = useStats('7 d', { webhookId: id });
  const newest = failures.data?.rows[0];
  return (
    <>
      <Heading title={TEXT.repair.title}>
        <Link href={encoded`/webhooks/${id}`}>{TEXT.repair.back}</Link>
      </Heading>
      <Result of={webhook} what={TEXT.repair.title}>
        {(found) => (
          <ol class="steps">
            <Step title={TEXT.repair.see}>
              <Summary webhook={found} />
              <Result of={stats} what={TEXT.webhook.health} lines={2}>
                {({ steps }) => <Chart steps={barsOf(steps, '7 d')} stepMs={barMs('7 d')} webhookId={id} />}
              </Result>
            </Step>
            <Step title={TEXT.repair.understand}>
              <Result of={stats} what={TEXT.webhook.failures} lines={2}>
                {({ totals }) => <Errors counts={totals.byError} webhookId={id} />}
              </Result>
              <Result of={failures} what={TEXT.repair.understand}>
                {({ rows }) =>
                  rows.length > 0 ? <DeliveryRows rows={rows} /> : <p class="muted">{TEXT.webhook.allArrived}</p>
                }
              </Result>
            </Step>
            <Step title={TEXT.repair.test}>
              <p class="muted">{newest ? TEXT.repair.testSays : TEXT.repair.testAny}</p>
              {failures.data && <TestWebhook webhook={found} event={newest?.event} />}
            </Step>
            <Step title={TEXT.repair.activate}>
              <Activate webhook={found} />
            </Step>
            <Step title={TEXT.repair.recover}>
              <Result of={stats} what={TEXT.repair.recover} lines={1}>
                {({ steps }) => <Recover webhook={found} from={firstFailureOf(steps)} />}
              </Result>
            </Step>
          </ol>
        )}
      </Result>
    </>
  );
}

/** When the first attempt of the week failed; a day ago, when none did: something may be missing all the same. */
const firstFailureOf = (steps: Stats['steps']): string =>
  steps.find(({ failed }) => failed > 0)?.from ?? new Date(Date.now() - DAY_MS).toISOString();

const Step = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <li>
    <h2>{title}</h2>
    {children}
  </li>
);

const Summary = ({ webhook }: { webhook: Webhook }) => (
  <p class="summary">
    <WebhookState webhook={webhook} /> <span class="url">{plainOf(webhook.url)}</span>{' '}
    {webhook.disabledReason && `${TEXT.webhook.why[webhook.disabledReason]} `}
    {webhook.disabledAt && (
      <>
        {TEXT.repair.disabledAt} <At at={webhook.disabledAt} />.{' '}
      </>
    )}
    {TEXT.repair.inARow(webhook.consecutiveFailures)}
  </p>
);

function Activate({ webhook }: { webhook: Webhook }) {
  const { may } = useSigned();
  const change = useActive(webhook);
  if (webhook.active) return <p>{TEXT.repair.isOn}</p>;
  return (
    <>
      <p class="actions">
        <button
          type="button"
          class="button main"
          disabled={!may('webhooks:write') || change.isPending}
          onClick={() => change.mutate(true)}
        >
          {TEXT.webhook.activate}
        </button>
        {!may('webhooks:write') && <span class="muted small">{TEXT.lacks('webhooks:write')}</span>}
      </p>
      {change.isError && <Problem error={change.error} />}
    </>
  );
}
