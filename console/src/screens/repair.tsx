import { useQuery } from '@tanstack/preact-query';
import { ChevronRight } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Link, useParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useWebhook } from '../api/queries';
import { useSigned } from '../api/signed';
import type { Delivery, Stats, Webhook } from '../api/types';
import { Chart } from '../parts/chart';
import { DeliveryRows } from '../parts/delivery-rows';
import { Heading } from '../parts/heading';
import { Icon } from '../parts/icon';
import { Problem } from '../parts/problem';
import { Result } from '../parts/result';
import { barMs, barsOf } from '../parts/spans';
import { useStats } from '../parts/use-stats';
import { isPull } from '../parts/webhook-kind';
import { nameOf } from '../parts/webhook-name';
import { TEXT } from '../text/en';
import { Recover } from './repair/recover';
import { Summary } from './repair/summary';
import { TestWebhook, useActive } from './webhook/actions';
import { Errors } from './webhook/errors';

const DAY_MS = 86_400_000;
const EXAMPLES = 5;
/** More than are shown: tests are left out. */
const MOST_READ = 50;

/** Repairs a webhook: what happened, why, test, activate if it is disabled, recover. Any step can be left and resumed. */
export function RepairScreen() {
  const { id = '' } = useParams();
  const webhook = useWebhook(id);
  return (
    <>
      <nav class="crumbs" aria-label={TEXT.nav.crumbs}>
        <Link href="/webhooks">{TEXT.webhooks.title}</Link>
        <Icon of={ChevronRight} size={12} />
        {webhook.data && <Link href={encoded`/webhooks/${id}`}>{nameOf(webhook.data)}</Link>}
      </nav>
      <Heading title={webhook.data ? TEXT.repair.titleOf(nameOf(webhook.data)) : TEXT.repair.title} />
      <Result of={webhook} what={TEXT.repair.title} lines={12}>
        {(found) => <Steps webhook={found} />}
      </Result>
    </>
  );
}

function Steps({ webhook }: { webhook: Webhook }) {
  const { id } = webhook;
  const failures = useFailures(id);
  const stats = useStats('7 d', { webhookId: id });
  const newest = failures.data?.[0];
  // The step stays after the webhook is activated here.
  const wasDisabled = useRef(!webhook.active);
  return (
    <ol class="steps">
      <Step title={TEXT.repair.see}>
        <Summary webhook={webhook} />
        <Result of={stats} what={TEXT.webhook.health} lines={2}>
          {({ steps }) => (
            <>
              <h3 class="muted small">{TEXT.repair.lastWeek}</h3>
              <Chart steps={barsOf(steps, '7 d')} stepMs={barMs('7 d')} webhookId={id} />
            </>
          )}
        </Result>
      </Step>
      <Step title={TEXT.repair.understand}>
        <Result of={stats} what={TEXT.webhook.failures} lines={2}>
          {({ totals }) => <Errors counts={totals.byError} webhook={webhook} />}
        </Result>
        <Result of={failures} what={TEXT.repair.understand}>
          {(rows) => rows.length > 0 && <Newest rows={rows} />}
        </Result>
      </Step>
      {!isPull(webhook) && (
        <Step title={TEXT.repair.test}>
          <p class="muted">{newest ? TEXT.repair.testSays : TEXT.repair.testAny}</p>
          {failures.data && <TestWebhook webhook={webhook} event={newest?.event} />}
        </Step>
      )}
      {wasDisabled.current && (
        <Step title={TEXT.repair.activate}>
          <Activate webhook={webhook} />
        </Step>
      )}
      <Step title={TEXT.repair.recover}>
        <Result of={stats} what={TEXT.repair.recover} lines={1}>
          {({ steps }) => <Recover webhook={webhook} from={firstFailureOf(steps)} />}
        </Result>
      </Step>
    </ol>
  );
}

/** The newest attempts that failed, tests apart, whether or not they are retried. */
function useFailures(id: string) {
  const { api } = useSigned();
  return useQuery({
    queryKey: ['failures', id],
    queryFn: async ({ signal }) => {
      const query = { status: 'failed', limit: MOST_READ };
      const { rows } = await api.page<Delivery>(encoded`webhooks/${id}/deliveries`, query, { signal });
      return rows.filter(({ trigger }) => trigger !== 'test').slice(0, EXAMPLES);
    },
  });
}

/** Returns the time of the first failed attempt of the week; without one a day ago, because events may still be missing. */
const firstFailureOf = (steps: Stats['steps']): string =>
  steps.find(({ failed }) => failed > 0)?.from ?? new Date(Date.now() - DAY_MS).toISOString();

const Step = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <li>
    <h2>{title}</h2>
    {children}
  </li>
);

const Newest = ({ rows }: { rows: readonly Delivery[] }) => (
  <>
    <h3 class="muted small">{TEXT.repair.newest}</h3>
    <DeliveryRows rows={rows} isExplained />
  </>
);

function Activate({ webhook }: { webhook: Webhook }) {
  const { may } = useSigned();
  const change = useActive(webhook);
  if (webhook.active) return <p role="status">{TEXT.repair.isOn}</p>;
  return (
    <>
      <p class="muted">{TEXT.repair.activateSays}</p>
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
