import { useQuery } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import { encoded } from '../api/address';
import { useEventTypes } from '../api/queries';
import { useSigned } from '../api/signed';
import type { EventStory, EventType } from '../api/types';
import { canPublish } from '../parts/event-names';
import { Heading } from '../parts/heading';
import { Result } from '../parts/result';
import { TEXT } from '../text/en';
import { draft, lastEvent } from './publish/draft';
import { PublishForm, textOf } from './publish/publish-form';

/** Publishes an event: the example of its type, or a copy of a published one, to edit. */
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
      <Result of={types} what={TEXT.publish.title} lines={8}>
        {(all) =>
          like === null ? (
            <Begin key={search.toString()} types={all.filter(canPublish)} event={search.get('event')} />
          ) : (
            <Result of={model} what={TEXT.story.title} lines={8}>
              {({ event, data, subject }) => (
                <Begin
                  key={search.toString()}
                  types={all.filter(canPublish)}
                  event={event}
                  data={data}
                  subject={subject ?? ''}
                />
              )}
            </Result>
          )
        }
      </Result>
    </>
  );
}

/** The form as it was left; on a new visit with the asked event, or the one that was published last. */
function Begin({
  types,
  event,
  data,
  subject = '',
}: {
  types: readonly EventType[];
  event: string | null;
  data?: unknown;
  subject?: string;
}) {
  const { session } = useSigned();
  const first = useMemo(() => {
    const kept = draft.read(session.userId);
    if (kept) return kept;
    const name = event ?? lastEvent.read(session.userId);
    const type = types.find((each) => each.name === name) ?? types[0];
    const text = textOf(data ?? type?.example);
    return { event: event ?? type?.name ?? '', text, subject, audience: 'me' as const, userId: '' };
  }, []);
  return <PublishForm types={types} first={first} />;
}
