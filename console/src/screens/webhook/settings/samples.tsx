import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useEventTypes } from '../../../api/queries';
import { useSigned } from '../../../api/signed';
import type { EventRow, Webhook } from '../../../api/types';
import { covers } from '../../../parts/event-names';
import { agoOf, useNow } from '../../../parts/time';
import { TEXT } from '../../../text/en';

/** An event to try a setting with. */
export interface Sample {
  /** The id of a published event; null for the example of a type. */
  id: string | null;
  event: string;
  userId: string | null;
  subject: string | null;
  data: Record<string, unknown>;
  createdAt: string | null;
}

export const keyOf = ({ id, event }: Sample): string => id ?? event;

/** Names the event in a request: by its id, or with its data. */
export const namedIn = ({ id, event, data }: Sample) => (id === null ? { event, data } : { eventId: id });

/** Returns the recent events of the types that the webhook subscribes to, newest first, and then the examples of these types. */
export function useSamples({ events }: Webhook): readonly Sample[] {
  const { api, may, session } = useSigned();
  const types = useEventTypes();
  const only = events.length === 1 && !events[0]?.endsWith('*') ? events[0] : undefined;
  const recent = useQuery({
    queryKey: ['samples', only],
    queryFn: ({ signal }) => api.page<EventRow>('events', { limit: 50, event: only }, { signal }),
    enabled: may('deliveries:read'),
    staleTime: 30_000,
  });
  const isSubscribed = (name: string) => events.some((each) => covers(each, name));
  const published = (recent.data?.rows ?? []).filter(({ event }) => isSubscribed(event));
  const examples = (types.data ?? []).filter(({ name }) => isSubscribed(name));
  return [
    ...published,
    ...examples.map(({ name, example }): Sample => ({
      ...{ id: null, event: name, userId: session.userId, subject: null, data: example, createdAt: null },
    })),
  ];
}

/** The chosen event: the first until one chooses, and if the chosen one is no longer among them. */
export function useChosen(samples: readonly Sample[]): [Sample | undefined, (next: Sample) => void] {
  const [key, setKey] = useState<string | null>(null);
  return [samples.find((sample) => keyOf(sample) === key) ?? samples[0], (next) => setKey(keyOf(next))];
}

/** Chooses one of the events. */
export function SampleSelect({
  label,
  samples,
  chosen,
  onChange,
}: {
  label: string;
  samples: readonly Sample[];
  chosen: Sample;
  onChange: (next: Sample) => void;
}) {
  const now = useNow();
  const group = (name: string, members: readonly Sample[]) =>
    members.length > 0 && (
      <optgroup label={name}>
        {members.map((sample) => (
          <option key={keyOf(sample)} value={keyOf(sample)} selected={keyOf(sample) === keyOf(chosen)}>
            {sample.event}
            {sample.createdAt && ` · ${agoOf(sample.createdAt, now)} · ${keyOf(sample).slice(-6)}`}
          </option>
        ))}
      </optgroup>
    );
  return (
    <select
      aria-label={label}
      onChange={({ currentTarget }) => {
        const next = samples.find((sample) => keyOf(sample) === currentTarget.value);
        if (next) onChange(next);
      }}
    >
      {group(
        TEXT.settings.recent,
        samples.filter(({ id }) => id !== null),
      )}
      {group(
        TEXT.settings.examples,
        samples.filter(({ id }) => id === null),
      )}
    </select>
  );
}
