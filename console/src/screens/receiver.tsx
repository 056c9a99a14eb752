import { useMutation, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { encoded } from '../api/address';
import { useAbout } from '../api/queries';
import { useSigned } from '../api/signed';
import type { TryReceiver, TryReceiverDetail } from '../api/types';
import { Heading } from '../parts/heading';
import { Message } from '../parts/message';
import { plainOf } from '../parts/plain';
import { Problem } from '../parts/problem';
import { Result } from '../parts/result';
import { At } from '../parts/time';
import { secretsOfReceivers } from '../parts/use-try-now';
import { TEXT } from '../text/en';

type Request = TryReceiverDetail['requests'][number];

const ANSWERS = [200, 500, 410, 'silent'] as const;
const EVERY_MS = 2000;

/** The receiver inside this service: what it got, and what it answers from now on. */
export function ReceiverScreen() {
  const about = useAbout();
  return (
    <>
      <Heading title={TEXT.receiver.title} />
      {about && (about.tryReceiver ? <Receiver /> : <p>{TEXT.receiver.nowhere}</p>)}
    </>
  );
}

function Receiver() {
  const { api, may } = useSigned();
  const queries = useQueryClient();
  const canWrite = may('webhooks:write');
  // It lives for an hour; asking for it again answers the one that is there.
  const receiver = useQuery({
    queryKey: ['try-receiver'],
    queryFn: async ({ signal }) => {
      const { id } = await api.send<TryReceiver>('POST', 'try-receivers');
      return api.get<TryReceiverDetail>(encoded`try-receivers/${id}`, {}, signal);
    },
    enabled: canWrite,
    refetchInterval: EVERY_MS,
  });
  const set = useMutation({
    mutationFn: (answer: (typeof ANSWERS)[number]) =>
      api.send('PATCH', encoded`try-receivers/${receiver.data?.id ?? ''}`, { answer }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['try-receiver'] }),
  });
  if (!canWrite) return <p class="notice">{TEXT.lacks('webhooks:write')}</p>;
  return (
    <Result of={receiver} what={TEXT.receiver.title}>
      {({ url, answer, requests, expiresAt }) => (
        <>
          <p class="url">{plainOf(url)}</p>
          <p class="muted">
            {TEXT.receiver.until} <At at={expiresAt} />
          </p>
          <fieldset>
            <legend>{TEXT.receiver.answers}</legend>
            {ANSWERS.map((each) => (
              <label key={each} class="chip">
                <input
                  type="radio"
                  name="answer"
                  checked={(set.isPending ? set.variables : answer) === each}
                  onChange={() => set.mutate(each)}
                />
                {TEXT.receiver.answer[each]}
              </label>
            ))}
          </fieldset>
          {set.isError && <Problem error={set.error} />}
          {requests.length === 0 && <p class="muted">{TEXT.receiver.none}</p>}
          {requests.map((request) => (
            <Received key={request.receivedAt} request={request} url={url} />
          ))}
        </>
      )}
    </Result>
  );
}

const Received = ({ request, url }: { request: Request; url: string }) => (
  <section class="lane" aria-label={request.receivedAt}>
    <div class="heading">
      <h2>
        <At at={request.receivedAt} />
      </h2>
      <span class="muted">
        {TEXT.receiver.wasAnswered} {request.answer}
      </span>
    </div>
    <Verdict request={request} secret={secretsOfReceivers.get(url)} />
    <Message {...request} isTruncated={request.bodyTruncated} />
  </section>
);

/** Computed in the page, with a secret that it has only when it made the webhook itself. */
function Verdict({ request: { headers, body }, secret }: { request: Request; secret: string | undefined }) {
  const [isValid, setValid] = useState<boolean | null>(null);
  const signature = String(headers['x-service-signature'] ?? '');
  useEffect(() => {
    if (secret) void signatureOf(secret, body).then((expected) => setValid(expected === signature));
  }, [secret, body, signature]);
  if (isValid === null) return <p class="muted">{TEXT.receiver.noSecret}</p>;
  return <p>{isValid ? TEXT.receiver.valid : TEXT.receiver.invalid}</p>;
}

async function signatureOf(secret: string, body: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(body)));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
