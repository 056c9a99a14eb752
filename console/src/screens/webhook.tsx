import { useQuery } from '@tanstack/preact-query';
import type { ComponentType } from 'preact';
import { Link, useParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useSigned } from '../api/signed';
import type { Webhook } from '../api/types';
import { Heading } from '../parts/heading';
import { plainOf } from '../parts/plain';
import { Result } from '../parts/result';
import { WebhookState } from '../parts/status';
import { Ago, At } from '../parts/time';
import { TEXT } from '../text/en';
import { WebhookActions } from './webhook/actions';
import { WebhookHealth } from './webhook/health';
import { WebhookLog } from './webhook/log';
import { WebhookRecoveries } from './webhook/recoveries';
import { WebhookSettings } from './webhook/settings';

const TABS: [string, string, ComponentType<{ webhook: Webhook }>][] = [
  ['', TEXT.webhook.notArrived, ({ webhook }) => <WebhookLog webhook={webhook} onlyNotArrived />],
  ['attempts', TEXT.webhook.attempts, ({ webhook }) => <WebhookLog webhook={webhook} />],
  ['health', TEXT.webhook.health, WebhookHealth],
  ['settings', TEXT.webhook.settings, WebhookSettings],
  ['recoveries', TEXT.webhook.recoveries, WebhookRecoveries],
];

/** One webhook: what has not arrived first. */
export function WebhookScreen() {
  const { api } = useSigned();
  const { id = '', tab = '' } = useParams();
  const webhook = useQuery({
    queryKey: ['webhook', id],
    queryFn: ({ signal }) => api.get<Webhook>(encoded`webhooks/${id}`, {}, signal),
  });
  const [current, , Tab] = TABS.find(([each]) => each === tab) ?? TABS[0]!;
  return (
    <>
      <Heading title={webhook.data ? hostOf(webhook.data.url) : TEXT.webhook.title} />
      <Result of={webhook} what={TEXT.webhook.title}>
        {(found) => (
          <>
            <Facts webhook={found} />
            <WebhookActions webhook={found} />
            <nav class="tabs" aria-label={TEXT.webhook.title}>
              {TABS.map(([each, name]) => (
                <Link
                  key={each}
                  href={each === '' ? encoded`/webhooks/${id}` : encoded`/webhooks/${id}/${each}`}
                  aria-current={each === current ? 'page' : undefined}
                >
                  {name}
                </Link>
              ))}
            </nav>
            <Tab webhook={found} />
          </>
        )}
      </Result>
    </>
  );
}

const Facts = ({ webhook }: { webhook: Webhook }) => (
  <dl class="facts">
    <dt>{TEXT.webhook.state}</dt>
    <dd>
      <WebhookState webhook={webhook} />{' '}
      {webhook.disabledReason && <span>{TEXT.webhook.why[webhook.disabledReason]} </span>}
      {webhook.disabledAt && <At at={webhook.disabledAt} />}
    </dd>
    <dt>URL</dt>
    <dd class="url">{plainOf(webhook.url)}</dd>
    <dt>{TEXT.newWebhook.events}</dt>
    <dd>{webhook.events.join(', ')}</dd>
    <dt>{TEXT.webhook.lastSuccess}</dt>
    <dd>
      <Ago at={webhook.lastSuccessAt} none={TEXT.webhook.never} />
    </dd>
    {webhook.previousSecretExpiresAt && (
      <>
        <dt>{TEXT.webhook.bothSecrets}</dt>
        <dd>
          <At at={webhook.previousSecretExpiresAt} />
        </dd>
      </>
    )}
  </dl>
);

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return plainOf(url);
  }
}
