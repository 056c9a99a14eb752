import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { encoded } from '../../api/address';
import { useSigned } from '../../api/signed';
import type { Account } from '../../api/types';
import { ApiCall } from '../../parts/api-call';
import { refusalOf } from '../../parts/faults';
import { Field } from '../../parts/field';
import { focusFirstFault } from '../../parts/form';
import { Dialog } from '../../parts/dialog';
import { Problem } from '../../parts/problem';
import { TEXT } from '../../text/en';

type Provider = Account['provider'];

const { accounts } = TEXT;
const PROVIDERS = Object.keys(accounts.providers) as Provider[];
const EVERY_SECONDS = '300';

/** Connects an account, and goes to its page. */
export function ConnectAccount({ onClose }: { onClose: () => void }) {
  const { api } = useSigned();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [provider, setProvider] = useState<Provider>('mastodon');
  const [handle, setHandle] = useState('');
  const [every, setEvery] = useState(EVERY_SECONDS);
  const [isChecked, setIsChecked] = useState(false);
  const body = { provider, handle: handle.trim(), ...(provider !== 'push' && { intervalSeconds: Number(every) }) };
  const connect = useMutation({
    mutationFn: () => api.send<Account>('POST', 'accounts', body),
    onSuccess: ({ id }) => {
      void queries.invalidateQueries({ queryKey: ['accounts'] });
      go(encoded`/accounts/${id}`);
    },
  });
  // The handle is the only field that is typed.
  const refusal = refusalOf(connect.error);
  const noHandle = isChecked && body.handle === '' ? accounts.noHandle : null;
  const error = noHandle ?? refusal;
  useEffect(() => focusFirstFault(form.current), [connect.error]);
  const submit = (event: Event) => {
    event.preventDefault();
    setIsChecked(true);
    if (body.handle === '') return focusFirstFault(form.current);
    connect.mutate();
  };
  return (
    <Dialog title={accounts.connectThis} onClose={onClose}>
      <form class="stack" noValidate ref={form} onSubmit={submit}>
        <ProviderField value={provider} onChange={setProvider} />
        <Field label={accounts.handle} hint={accounts.handles[provider]} error={error}>
          {(described) => (
            <input
              {...described}
              required
              autofocus
              maxLength={320}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              value={handle}
              onInput={({ currentTarget }) => setHandle(currentTarget.value)}
            />
          )}
        </Field>
        {provider !== 'push' && <IntervalField value={every} onChange={setEvery} />}
        <p class="muted small">{accounts.firstList}</p>
        {connect.isError && !refusal && <Problem error={connect.error} />}
        <p class="actions">
          <button type="button" class="button" onClick={onClose}>
            {TEXT.cancel}
          </button>
          <button class="button main" disabled={connect.isPending}>
            {accounts.submit}
          </button>
        </p>
        <ApiCall method="POST" path="accounts" body={body} />
      </form>
    </Dialog>
  );
}

const ProviderField = ({ value, onChange }: { value: Provider; onChange: (next: Provider) => void }) => (
  <fieldset>
    <legend>{accounts.provider}</legend>
    {PROVIDERS.map((each) => (
      <label key={each} class="chip">
        <input type="radio" name="provider" checked={each === value} onChange={() => onChange(each)} />
        {accounts.providers[each]}
      </label>
    ))}
  </fieldset>
);

const IntervalField = ({ value, onChange }: { value: string; onChange: (next: string) => void }) => (
  <Field label={accounts.interval}>
    {(described) => (
      <select {...described} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {Object.entries(accounts.intervals).map(([seconds, text]) => (
          <option key={seconds} value={seconds}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
);
