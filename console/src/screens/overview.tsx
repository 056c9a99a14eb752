import { Plus, Send } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useAbout, useAllWebhooks } from '../api/queries';
import { useSigned } from '../api/signed';
import type { Webhook } from '../api/types';
import { ChartCard } from '../parts/chart-card';
import { Heading } from '../parts/heading';
import { rankOf } from '../parts/health-rank';
import { Icon } from '../parts/icon';
import { Problem } from '../parts/problem';
import { Result } from '../parts/result';
import type { Span } from '../parts/spans';
import { useTryNow } from '../parts/use-try-now';
import { WebhookTable } from '../parts/webhook-table';
import { TEXT } from '../text/en';
import { Attention } from './overview/attention';
import { Figures } from './overview/figures';

/** More have a page of their own. */
const MOST = 10;

/** Shows whether deliveries arrive, and what needs attention. */
export function OverviewScreen() {
  const webhooks = useAllWebhooks();
  return (
    <>
      <Heading title={TEXT.overview.title}>
        <p class="actions">
          <Link class="button" href="/publish">
            <Icon of={Send} size={15} />
            {TEXT.overview.publish}
          </Link>
          <Link class="button main" href="/webhooks/new">
            <Icon of={Plus} size={15} />
            {TEXT.overview.create}
          </Link>
        </p>
      </Heading>
      <Result of={webhooks} what={TEXT.overview.title} lines={8}>
        {({ rows }) => (rows.length === 0 ? <Empty /> : <Overview rows={rows} />)}
      </Result>
    </>
  );
}

function Overview({ rows }: { rows: readonly Webhook[] }) {
  const [span, setSpan] = useState<Span>('24 h');
  const worst = [...rows].sort((a, b) => rankOf(a) - rankOf(b)).slice(0, MOST);
  return (
    <>
      <Figures rows={rows} />
      <ChartCard span={span} onSpan={setSpan} />
      <Attention rows={rows} />
      <section aria-labelledby="webhooks">
        <div class="heading">
          <h2 id="webhooks">
            {TEXT.webhooks.title} <span class="muted number">{rows.length.toLocaleString('en')}</span>
          </h2>
          {rows.length > MOST && <Link href="/webhooks">{TEXT.overview.allWebhooks}</Link>}
        </div>
        <WebhookTable rows={worst} />
      </section>
    </>
  );
}

function Empty() {
  const { may } = useSigned();
  const about = useAbout();
  const tryNow = useTryNow();
  const lacking = (['webhooks:write', 'events:publish'] as const).find((scope) => !may(scope));
  return (
    <section class="empty">
      <h2>{TEXT.overview.empty}</h2>
      <p>{TEXT.overview.emptySays}</p>
      {about?.tryReceiver && (
        <>
          <button
            type="button"
            class="button main"
            disabled={lacking !== undefined || tryNow.isPending}
            onClick={() => tryNow.mutate()}
          >
            {TEXT.overview.tryNow}
          </button>
          <p class="muted small">{lacking ? TEXT.lacks(lacking) : TEXT.overview.tryNowSays}</p>
          {tryNow.isError && <Problem error={tryNow.error} />}
        </>
      )}
    </section>
  );
}
