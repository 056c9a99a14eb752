import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useSigned } from '../../api/signed';
import type { EventRow } from '../../api/types';
import { draft, type Draft, lastEvent } from './draft';

const KEEP_AFTER_MS = 300;

/** The entered values, and a function that changes some of them. Keeps them in the history. */
export function useDraft(first: Draft): [Draft, (next: Partial<Draft>) => void] {
  const { session } = useSigned();
  const [entered, setEntered] = useState(first);
  useEffect(() => {
    const timer = setTimeout(() => draft.keep(session.userId, entered), KEEP_AFTER_MS);
    return () => clearTimeout(timer);
  }, [entered]);
  return [entered, (next) => setEntered((before) => ({ ...before, ...next }))];
}

/** Publishes the entered event, and opens its story. */
export function usePublish(entered: Draft, key: string) {
  const { api, session } = useSigned();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const { event, text, subject, audience, userId } = entered;
  const receivers = { me: session.userId, user: userId, everybody: null };
  const body = {
    ...{ event, userId: receivers[audience], data: dataOf(text) },
    ...(subject.trim() !== '' && { subject: subject.trim() }),
    ...(key !== '' && { idempotencyKey: key }),
  };
  const publish = useMutation({
    mutationFn: () => api.send<Pick<EventRow, 'id'>>('POST', 'events', body),
    onSuccess: ({ id }) => {
      lastEvent.keep(session.userId, event);
      draft.keep(session.userId, entered);
      void queries.invalidateQueries();
      go(encoded`/events/${id}`);
    },
  });
  return { publish, body };
}

function dataOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
