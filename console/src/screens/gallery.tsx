import { Check, RotateCw } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { encoded } from '../api/address';
import { CallError } from '../api/call';
import type { Delivery, StatsStep, Webhook } from '../api/types';
import { AnswerBadge } from '../parts/answer';
import { ApiCall } from '../parts/api-call';
import { AttemptDots } from '../parts/attempt-dots';
import { Bars } from '../parts/bars';
import { ChartCard } from '../parts/chart-card';
import { ConfirmDeletion } from '../parts/confirm-deletion';
import { ConsumerLines } from '../parts/consumer-lines';
import { CopyButton } from '../parts/copy';
import { DeliveryRows } from '../parts/delivery-rows';
import { Dialog } from '../parts/dialog';
import { EventPicker } from '../parts/event-picker';
import { TextField } from '../parts/field';
import { FilterBar } from '../parts/filter-bar';
import { Heading } from '../parts/heading';
import { HealthPill } from '../parts/health';
import { Icon } from '../parts/icon';
import { JsonText } from '../parts/json-text';
import { Loading } from '../parts/loading';
import { Message } from '../parts/message';
import { Pill } from '../parts/pill';
import { Problem } from '../parts/problem';
import { RedeliverButton } from '../parts/redeliver';
import { Rows } from '../parts/rows';
import { SchemaFields } from '../parts/schema-fields';
import { SecretDialog } from '../parts/secret-dialog';
import { Segmented } from '../parts/segmented';
import { Share } from '../parts/share';
import { DeliveryStatus, WebhookState } from '../parts/status';
import { Tile, Tiles } from '../parts/tile';
import { Ago, At, Due, LogTime } from '../parts/time';
import { Timeline } from '../parts/timeline';
import { toast } from '../parts/toasts';
import { WebhookTable } from '../parts/webhook-table';

const NOW = new Date().toISOString();
const SOON = new Date(Date.now() + 180_000).toISOString();

const delivery = (attempt: number, changes: Partial<Delivery>): Delivery => ({
  ...{ id: `0000000${attempt}-0000-7000-8000-000000000000`, webhookId: 'webhook', eventId: 'event', attempt },
  ...{
    event: 'job.started',
    subject: null,
    url: 'https://example.com/hook',
    trigger: 'event',
    status: 'failed',
    waitsFor: null,
  },
  ...{ responseStatus: 500, durationMs: 12, error: { code: 'http_status', message: 'Your server answered 500.' } },
  ...{ scheduledAt: NOW, attemptedAt: NOW, completedAt: NOW, nextAttemptAt: SOON, createdAt: NOW },
  ...changes,
});

const NONE = { error: null, responseStatus: null, durationMs: null, attemptedAt: null, completedAt: null };
const DELIVERIES = [
  delivery(1, { status: 'succeeded', responseStatus: 200, error: null, nextAttemptAt: null }),
  delivery(2, {}),
  delivery(3, { status: 'pending', ...NONE, scheduledAt: SOON, nextAttemptAt: null }),
  delivery(4, { nextAttemptAt: null }),
  delivery(5, { status: 'succeeded', url: null, responseStatus: null, error: null, nextAttemptAt: null }),
];
const STEPS = Array.from({ length: 24 }, (_, i): StatsStep => ({
  ...{ from: String(i), succeeded: 20 + ((i * 7) % 13), failed: i % 5, canceled: 0, p50Ms: 12, p95Ms: 80, byError: {} },
}));

const webhook = (health: string): Webhook =>
  ({
    ...{ id: health, url: 'https://example.com/hook', description: 'CRM sync', lastSuccessAt: NOW, disabledAt: NOW },
    stats: { health, failingSince: NOW, steps: STEPS, totals: { succeeded: 90, failed: 10, p95Ms: 80 } },
  }) as unknown as Webhook;
const HEALTHS = ['healthy', 'degraded', 'failing', 'disabled', 'no_traffic'].map(webhook);

/** Every part of the console, in builds for its developers. */
export function GalleryScreen() {
  const [choice, setChoice] = useState<'one' | 'two'>('one');
  const [events, setEvents] = useState<readonly string[]>(['job.started']);
  const [isOpen, setOpen] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const [isSecretShown, setSecretShown] = useState(false);
  return (
    <>
      <Heading title="Parts" />
      <Part name="Buttons">
        <button type="button" class="button main">
          <Icon of={RotateCw} /> Main
        </button>
        <button type="button" class="button" onClick={() => toast('This was done.', () => undefined)}>
          Toast
        </button>
        <button type="button" class="button" onClick={() => setOpen(true)}>
          Dialog
        </button>
        <button type="button" class="button" onClick={() => setDeleting(true)}>
          Delete
        </button>
        <button type="button" class="button" onClick={() => setSecretShown(true)}>
          Secret
        </button>
        <button type="button" class="button quiet">
          Quiet
        </button>
        <button type="button" class="button" disabled>
          Disabled
        </button>
        <CopyButton text="copied" />
        <RedeliverButton of={delivery(1, {})} />
        <ApiCall method="GET" path="webhooks" />
        {isSecretShown && (
          <SecretDialog title="Secret" secret="own" standardSecret="whsec_b3du" onDone={() => setSecretShown(false)} />
        )}
        {isDeleting && (
          <ConfirmDeletion
            title="Delete"
            path={encoded`tokens/${'0198c0de-0000-7000-8000-000000000000'}`}
            action="Delete"
            onDeleted={() => setDeleting(false)}
            onClose={() => setDeleting(false)}
          >
            <p>It ends at once.</p>
          </ConfirmDeletion>
        )}
        {isOpen && (
          <Dialog title="Dialog" onClose={() => setOpen(false)}>
            <p>Escape closes it.</p>
          </Dialog>
        )}
      </Part>
      <Part name="States">
        {DELIVERIES.map((each) => (
          <DeliveryStatus key={each.id} of={each} />
        ))}
        <WebhookState webhook={{ active: true, disabledReason: null }} />
        <WebhookState webhook={{ active: false, disabledReason: 'failing' }} />
        <WebhookState webhook={{ active: false, disabledReason: null }} />
        <Pill tone="calm" icon={Check}>
          Pill
        </Pill>
        <AnswerBadge of={delivery(1, {})} />
        <AttemptDots of={delivery(3, {})} />
      </Part>
      <Part name="Figures">
        <Tiles>
          <Tile name="Delivered" value="99.8" unit="%" note="+0.2 points since yesterday" tone="good" />
          <Tile name="Gave up" value="12" note="3 the day before" tone="bad" />
        </Tiles>
        <Share of={{ succeeded: 90, failed: 10 }} />
        <Bars steps={STEPS} label="Last 24 hours" />
        <ChartCard span="24 h" onSpan={() => undefined} />
      </Part>
      <Part name="Webhooks">
        {HEALTHS.map((each) => (
          <HealthPill key={each.id} webhook={each} />
        ))}
        <WebhookTable rows={HEALTHS} />
      </Part>
      <Part name="Times">
        <Ago at={NOW} /> <At at={NOW} /> <LogTime at={NOW} isExact /> <Due at={SOON} />
      </Part>
      <Part name="Fields">
        <Segmented
          name="Choice"
          options={[['one', 'One'] as const, ['two', 'Two'] as const]}
          value={choice}
          onChange={setChoice}
        />
        <TextField label="Text" hint="A hint" error="An error" value="text" onValue={() => undefined} />
        <Rows rows={['row']} blank="" add="Add a row" remove={(n) => `Remove row ${n}`} onChange={() => undefined}>
          {(row) => <input aria-label="Row" value={row} />}
        </Rows>
        <SchemaFields schema={{ type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }} />
        <FilterBar />
        <EventPicker types={[]} chosen={events} onChange={setEvents} />
      </Part>
      <Part name="Deliveries">
        <DeliveryRows rows={DELIVERIES} />
        <Timeline attempts={DELIVERIES} />
        <ConsumerLines id="0198c0de-0000-7000-8000-000000000000" />
        <Message headers={{ 'content-type': 'application/json' }} body='{"a":[1,"two",null]}' />
        <pre>
          <JsonText text='{"a": 1}' />
        </pre>
      </Part>
      <Part name="Problems">
        <Problem error={new CallError(500, 'The service cannot answer.', 'request-id')} onRetry={() => undefined} />
        <Loading what="Loading" lines={2} />
      </Part>
    </>
  );
}

const Part = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <section class="stack" aria-label={name}>
    <h2>{name}</h2>
    <div class="actions">{children}</div>
  </section>
);
