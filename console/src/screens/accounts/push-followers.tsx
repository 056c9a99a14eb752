import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useEffect, useRef, useState } from 'preact/hooks';
import { encoded } from '../../api/address';
import { useSigned } from '../../api/signed';
import type { Account, FollowersChange } from '../../api/types';
import { ApiCall } from '../../parts/api-call';
import { refusalOf } from '../../parts/faults';
import { Field } from '../../parts/field';
import { focusFirstFault } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { TEXT } from '../../text/en';
import { followersIn } from './followers-in';

const { push } = TEXT.accounts;
/** A list may have 16 MiB. */
const TIMEOUT_MS = 120_000;
/** A longer list is not shown in the call of the API. */
const MOST_SHOWN = 20;

/** Replaces the list of an account whose followers the service does not read. */
export function PushFollowers({ account }: { account: Account }) {
  const { api } = useSigned();
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [text, setText] = useState('');
  const [isChecked, setIsChecked] = useState(false);
  const path = encoded`accounts/${account.id}/followers`;
  const followers = followersIn(text);
  const body = { followers };
  const send = useMutation({
    mutationFn: async () => (await api.call<FollowersChange>('PUT', path, { body, timeoutMs: TIMEOUT_MS })).data,
    onSuccess: () => void queries.invalidateQueries(),
  });
  const refusal = refusalOf(send.error);
  const fault = followers === null ? push.notList : text.trim() === '' ? push.empty : null;
  const error = (isChecked ? fault : null) ?? refusal;
  useEffect(() => focusFirstFault(form.current), [send.error]);
  const submit = (event: Event) => {
    event.preventDefault();
    setIsChecked(true);
    if (fault !== null) return focusFirstFault(form.current);
    send.mutate();
  };
  const change = (next: string) => {
    setText(next);
    setIsChecked(false);
    send.reset();
  };
  return (
    <section class="card push" aria-labelledby="push">
      <h2 id="push">{push.title}</h2>
      <p class="muted">
        {push.says} {account.lastReadAt === null && TEXT.accounts.firstList}
      </p>
      <form class="stack" noValidate ref={form} onSubmit={submit}>
        <Field label={push.list} hint={push.form} error={error}>
          {(described) => (
            <textarea
              {...described}
              rows={6}
              spellcheck={false}
              value={text}
              onInput={({ currentTarget }) => change(currentTarget.value)}
            />
          )}
        </Field>
        {send.isError && !refusal && <Problem error={send.error} />}
        <p class="actions">
          <button class="button main" disabled={send.isPending}>
            {push.submit(followers?.length ?? 0)}
          </button>
          <span role="status">
            {send.isSuccess && push.done(send.data.followersCount, send.data.gained, send.data.lost)}
          </span>
        </p>
      </form>
      {followers !== null && followers.length <= MOST_SHOWN && <ApiCall method="PUT" path={path} body={body} />}
    </section>
  );
}
