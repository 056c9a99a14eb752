import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useLocation, useSearchParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useEventTypes, useWebhooks } from '../api/queries';
import { useSigned } from '../api/signed';
import type { EventRow, EventStory, EventType } from '../api/types';
import { ApiCall } from '../parts/api-call';
import { canPublish, covers } from '../parts/event-names';
import { Heading } from '../parts/heading';
import { plainOf } from '../parts/plain';
import { Problem } from '../parts/problem';
import { Result } from '../parts/result';
import { TEXT } from '../text/en';

/** An event with the example of its type, or like one that was published, changed as one likes; and then its story. */
export function PublishScreen() {
  const { api } = useSigned();
  const [search] = useSearchParams();
  const like = search.get('like');
  const types = useEventTypes();
  const model = useQuery({
    queryKey: ['event', like],
    queryFn: ({ signal }) => api.get<EventStory>(encoded`events/${like ?? ''}`, {}, signal),
    enabled: like !== null,
  });
  return (
    <>
      <Heading title={TEXT.publish.title} />
      <Result of={types} what={TEXT.publish.title}>
        {(all) => {
          const found = all.filter(canPublish);
          return like === null ? (
            <PublishForm types={found} name={search.get('event') ?? found[0]?.name ?? ''} />
          ) : (
            <Result of={model} what={TEXT.story.title}>
              {({ event, data }) => <PublishForm types={found} name={event} data={data} />}
            </Result>
          );
        }}
      </Result>
    </>
  );
}

const textOf = (data: unknown): string => JSON.stringify(data ?? {}, null, 2);

function PublishForm({
  types,
  name: first,
  data: model,
}: {
  types: readonly EventType[];
  name: string;
  data?: unknown;
}) {
  const { api, session, may } = useSigned();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const exampleOf = (of: string) => textOf(types.find((each) => each.name === of)?.example);
  const [name, setName] = useState(first);
  const [text, setText] = useState(() => (model ? textOf(model) : exampleOf(first)));
  const [toEverybody, setToEverybody] = useState(false);
  const [key, setKey] = useState('');
  const type = types.find((each) => each.name === name);
  const parsed = parse(text);
  const userId = toEverybody ? null : session.userId;
  const body = { event: name, userId, data: parsed.data, ...(key !== '' && { idempotencyKey: key }) };

  const publish = useMutation({
    mutationFn: () => api.send<Pick<EventRow, 'id'>>('POST', 'events', body),
    onSuccess: ({ id }) => {
      void queries.invalidateQueries();
      go(encoded`/events/${id}`);
    },
  });
  const choose = (next: string) => {
    // What was written is not lost, unless it is an example that nobody touched.
    if (text === exampleOf(name)) setText(exampleOf(next));
    setName(next);
  };

  return (
    <div class="two">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          publish.mutate();
        }}
      >
        <label>
          {TEXT.publish.event}
          <select value={name} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            {types.map((each) => (
              <option key={each.name} value={each.name}>
                {each.name}
              </option>
            ))}
          </select>
        </label>
        <label>
          {TEXT.publish.data}
          <textarea
            class="code"
            rows={16}
            spellcheck={false}
            aria-describedby="json-error"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <p id="json-error" role="status" class="small">
          {parsed.error && TEXT.publish.notJson(plainOf(parsed.error))}
        </p>
        <label>
          {TEXT.publish.key}
          <input value={key} maxLength={255} onInput={({ currentTarget }) => setKey(currentTarget.value)} />
        </label>
        <label class="row">
          <input
            type="checkbox"
            checked={toEverybody}
            disabled={!may('events:broadcast')}
            onChange={({ currentTarget }) => setToEverybody(currentTarget.checked)}
          />
          {TEXT.publish.everybody}
          {!may('events:broadcast') && <span class="muted small">{TEXT.lacks('events:broadcast')}</span>}
        </label>
        <Reach name={name} />
        {publish.isError && <Problem error={publish.error} />}
        <div class="actions">
          <button
            class="button main"
            disabled={!may('events:publish') || publish.isPending || parsed.error !== null || name === ''}
          >
            {TEXT.publish.submit}
          </button>
          <button type="button" class="button" onClick={() => setText(exampleOf(name))}>
            {TEXT.publish.example}
          </button>
          {!may('events:publish') && <span class="muted small">{TEXT.lacks('events:publish')}</span>}
        </div>
        <ApiCall method="POST" path="events" body={body} />
      </form>
      {type && (
        <section class="message" aria-labelledby="schema">
          <h2 id="schema">{TEXT.eventTypes.schema}</h2>
          <p class="muted">{plainOf(type.description)}</p>
          <pre tabIndex={0}>{plainOf(textOf(type.schema))}</pre>
        </section>
      )}
    </div>
  );
}

/** How many of one's own webhooks get it. */
function Reach({ name }: { name: string }) {
  const webhooks = useWebhooks();
  if (!webhooks.data) return null;
  const reached = webhooks.data.rows.filter(
    ({ active, events }) => active && events.some((each) => covers(each, name)),
  );
  return <p class="muted">{TEXT.publish.reach(reached.length)}</p>;
}

function parse(text: string): { data: unknown; error: string | null } {
  try {
    return { data: JSON.parse(text), error: null };
  } catch (error) {
    return { data: null, error: error instanceof Error ? error.message : String(error) };
  }
}
