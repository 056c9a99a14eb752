import { Link, useParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useEventTypes, useWebhooks } from '../api/queries';
import type { EventType } from '../api/types';
import { CopyButton } from '../parts/copy';
import { canPublish, covers } from '../parts/event-names';
import { Heading } from '../parts/heading';
import { plainOf } from '../parts/plain';
import { Result } from '../parts/result';
import { SchemaFields } from '../parts/schema-fields';
import { type JsonSchema, typeScriptOf } from '../parts/type-script';
import { isPull } from '../parts/webhook-kind';
import { nameOf } from '../parts/webhook-name';
import { TEXT } from '../text/en';
import { TestWebhook } from './webhook/actions';

/** What can happen. */
export function EventTypesScreen() {
  const types = useEventTypes();
  return (
    <>
      <Heading title={TEXT.nav.eventTypes} />
      <Result of={types} what={TEXT.nav.eventTypes} lines={6}>
        {(found) => (
          <ul class="types">
            {found.map(({ name, description }) => (
              <li key={name}>
                <Link href={encoded`/event-types/${name}`}>
                  <code>{plainOf(name)}</code>
                </Link>
                <p class="muted">{plainOf(description)}</p>
              </li>
            ))}
          </ul>
        )}
      </Result>
    </>
  );
}

/** One type: its fields, its example, and who is told. */
export function EventTypeScreen() {
  const { name = '' } = useParams();
  const types = useEventTypes();
  return (
    <>
      <Heading title={plainOf(name)} />
      <Result of={types} what={TEXT.nav.eventTypes} lines={6}>
        {(found) => {
          const type = found.find((each) => each.name === name);
          return type ? <Type type={type} /> : <p>{TEXT.eventTypes.unknown}</p>;
        }}
      </Result>
    </>
  );
}

function Type({ type }: { type: EventType }) {
  const example = JSON.stringify(type.example, null, 2);
  const code = typeScriptOf(type.name, type.schema as JsonSchema);
  return (
    <>
      <p>{plainOf(type.description)}</p>
      <p class="actions">
        {canPublish(type) && (
          <Link class="button main" href={encoded`/publish?event=${type.name}`}>
            {TEXT.nav.publish}
          </Link>
        )}
        <Link class="button" href={encoded`/webhooks/new?events=${type.name}`}>
          {TEXT.eventTypes.subscribe}
        </Link>
      </p>
      <SchemaFields schema={type.schema as JsonSchema} />
      <div class="two">
        <section class="message" aria-labelledby="example">
          <h2 id="example">{TEXT.eventTypes.example}</h2>
          <pre tabIndex={0}>{plainOf(example)}</pre>
          <CopyButton text={example} />
        </section>
        <section class="message" aria-labelledby="typescript">
          <h2 id="typescript">TypeScript</h2>
          <pre tabIndex={0}>{plainOf(code)}</pre>
          <CopyButton text={code} />
        </section>
      </div>
      <Subscribers name={type.name} />
    </>
  );
}

/** One's own webhooks that are told. */
function Subscribers({ name }: { name: string }) {
  const webhooks = useWebhooks();
  const told = (webhooks.data?.rows ?? []).filter(({ events }) => events.some((each) => covers(each, name)));
  return (
    <section class="message" aria-labelledby="subscribers">
      <h2 id="subscribers">{TEXT.eventTypes.subscribers}</h2>
      {told.length === 0 && webhooks.data && <p class="muted">{TEXT.story.noWebhook}</p>}
      <ul class="plain stack">
        {told.map((webhook) => (
          <li key={webhook.id} class="actions">
            <Link class="url" href={encoded`/webhooks/${webhook.id}`}>
              {webhook.url === null ? nameOf(webhook) : plainOf(webhook.url)}
            </Link>
            {!isPull(webhook) && <TestWebhook webhook={webhook} event={name} />}
          </li>
        ))}
      </ul>
    </section>
  );
}
