import { ChevronRight } from 'lucide-preact';
import type { ComponentType } from 'preact';
import { Link, useParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useWebhook } from '../api/queries';
import type { Webhook } from '../api/types';
import { CopyButton } from '../parts/copy';
import { Heading } from '../parts/heading';
import { HealthPill } from '../parts/health';
import { Icon } from '../parts/icon';
import { plainOf } from '../parts/plain';
import { Result } from '../parts/result';
import { At } from '../parts/time';
import { nameOf } from '../parts/webhook-name';
import { TEXT } from '../text/en';
import { WebhookActions } from './webhook/actions';
import { WebhookLog } from './webhook/log';
import { WebhookOverview } from './webhook/overview';
import { WebhookRecoveries } from './webhook/recoveries';
import { WebhookSettings } from './webhook/settings/webhook-settings';

const TABS: [string, string, ComponentType<{ webhook: Webhook }>][] = [
  ['', TEXT.webhook.overview, WebhookOverview],
  ['deliveries', TEXT.webhook.deliveries, WebhookLog],
  ['recoveries', TEXT.webhook.recoveries, WebhookRecoveries],
  ['settings', TEXT.webhook.settings, WebhookSettings],
];

/** One webhook; the first tab shows its health. */
export function WebhookScreen() {
  const { id = '', tab = '' } = useParams();
  const webhook = useWebhook(id);
  const [current, , Tab] = TABS.find(([each]) => each === tab) ?? TABS[0]!;
  return (
    <>
      <nav class="crumbs" aria-label={TEXT.nav.crumbs}>
        <Link href="/webhooks">{TEXT.webhooks.title}</Link>
        <Icon of={ChevronRight} size={12} />
        {webhook.data && <span>{nameOf(webhook.data)}</span>}
      </nav>
      <Heading title={webhook.data ? nameOf(webhook.data) : TEXT.webhook.title}>
        {webhook.data && <WebhookActions webhook={webhook.data} />}
      </Heading>
      <Result of={webhook} what={TEXT.webhook.title}>
        {(found) => (
          <>
            <Facts webhook={found} />
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
  <div class="about">
    <HealthPill webhook={webhook} />{' '}
    {webhook.url === null ? (
      <>
        <span class="muted">{TEXT.pull.kind}</span>
        <CopyButton text={webhook.id} label={TEXT.pull.id} />
      </>
    ) : (
      <>
        <span class="url muted">{plainOf(webhook.url)}</span>
        <CopyButton text={webhook.url} />
      </>
    )}
    {webhook.disabledReason && <span>{TEXT.webhook.why[webhook.disabledReason]}</span>}
    {webhook.previousSecretExpiresAt && (
      <span>
        {TEXT.webhook.bothSecrets} <At at={webhook.previousSecretExpiresAt} />
      </span>
    )}
  </div>
);
