import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useSigned } from '../../api/signed';
import type { CreatedToken } from '../../api/types';
import { ApiCall } from '../../parts/api-call';
import { Field } from '../../parts/field';
import { focusFirstFault } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { TEXT } from '../../text/en';
import { ExpiryField, useExpiry } from './expiry-field';
import { ParentNote } from './parent-note';
import { presetsFor } from './presets';
import { ScopeChoice } from './scope-choice';
import type { Parent } from './token-tree';

const { tokens } = TEXT;

/** The form for a token with scopes of one's own, for a program or another person. */
export function NewToken({
  parent,
  onCreated,
  onCancel,
}: {
  parent: Parent;
  onCreated: (created: CreatedToken) => void;
  onCancel: () => void;
}) {
  const { api, session } = useSigned();
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState(presetsFor(session.scopes)[0]?.[1] ?? []);
  const [expiry, setExpiry, expiresAt] = useExpiry(parent);
  const [isChecked, setIsChecked] = useState(false);
  const body = { name: name.trim(), scopes, expiresAt };
  const create = useMutation({
    mutationFn: () => api.send<CreatedToken>('POST', 'tokens', body),
    onSuccess: (created) => {
      void queries.invalidateQueries();
      onCreated(created);
    },
  });
  const noName = body.name === '' ? tokens.noName : null;
  const noScope = scopes.length === 0 ? tokens.noScope : null;
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    setIsChecked(true);
    if (noName ?? noScope) return focusFirstFault(form.current);
    create.mutate();
  };
  return (
    <form class="card new-token" noValidate ref={form} aria-label={tokens.make} onSubmit={submit}>
      <Field label={tokens.name} hint={tokens.nameSays} error={isChecked ? noName : null}>
        {(described) => (
          <input
            {...described}
            required
            maxLength={128}
            autocomplete="off"
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
      </Field>
      <ScopeChoice held={session.scopes} chosen={scopes} error={isChecked ? noScope : null} onChange={setScopes} />
      <ExpiryField parent={parent} value={expiry} onChange={setExpiry} />
      <ParentNote parent={parent} />
      {create.isError && <Problem error={create.error} />}
      <p class="actions">
        <button class="button main" disabled={create.isPending}>
          {tokens.create}
        </button>
        <button type="button" class="button" onClick={onCancel}>
          {TEXT.cancel}
        </button>
      </p>
      <ApiCall method="POST" path="tokens" body={body} />
    </form>
  );
}
