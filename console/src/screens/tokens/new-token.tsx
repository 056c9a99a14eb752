import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useSigned } from '../../api/signed';
import type { CreatedToken, Scope } from '../../api/types';
import { ApiCall } from '../../parts/api-call';
import { CopyButton } from '../../parts/copy';
import { Problem } from '../../parts/problem';
import { TEXT } from '../../text/en';

const PRESETS: Record<keyof typeof TEXT.tokens.presets, readonly Scope[]> = {
  publish: ['events:publish'],
  read: ['webhooks:read', 'deliveries:read'],
};
const DAY_MS = 86_400_000;

/** A token with scopes of one's own, for a program or somebody else. It is shown once. */
export function NewToken() {
  const { api, session } = useSigned();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const [days, setDays] = useState('');
  // A token may outlive the session, but not the token that the session was made with, whose end only the service knows.
  const latest = session.expiresAt;
  const wanted = Number(days) > 0 ? new Date(Date.now() + Number(days) * DAY_MS).toISOString() : null;
  const body = { name, scopes, expiresAt: days === '' ? latest : wanted };
  const create = useMutation({
    mutationFn: () => api.send<CreatedToken>('POST', 'tokens', body),
    onSuccess: () => void queries.invalidateQueries(),
  });
  const choose = (scope: Scope, isOn: boolean) =>
    setScopes((before) => (isOn ? [...before, scope] : before.filter((each) => each !== scope)));
  return (
    <details class="panel">
      <summary>{TEXT.tokens.make}</summary>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <label>
          {TEXT.tokens.name}
          <input required maxLength={128} value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
        </label>
        <fieldset>
          <legend>{TEXT.tokens.scopes}</legend>
          {session.scopes.map((scope) => (
            <label key={scope} class="chip">
              <input
                type="checkbox"
                checked={scopes.includes(scope)}
                onChange={({ currentTarget }) => choose(scope, currentTarget.checked)}
              />
              {scope}
            </label>
          ))}
        </fieldset>
        <div class="actions" role="group" aria-label={TEXT.tokens.preset}>
          {Object.entries(PRESETS).map(([preset, ofIt]) => (
            <button
              key={preset}
              type="button"
              class="button"
              onClick={() => setScopes(ofIt.filter((scope) => session.scopes.includes(scope)))}
            >
              {TEXT.tokens.presets[preset as keyof typeof PRESETS]}
            </button>
          ))}
        </div>
        <label class="narrow">
          {TEXT.tokens.ends}
          <select value={days} onChange={({ currentTarget }) => setDays(currentTarget.value)}>
            <option value="">{latest ? TEXT.tokens.withSession : TEXT.tokens.never}</option>
            {latest && <option value="never">{TEXT.tokens.never}</option>}
            {[1, 7, 30, 90, 365].map((count) => (
              <option key={count} value={count}>
                {TEXT.tokens.days(count)}
              </option>
            ))}
          </select>
          {latest && <span class="muted small">{TEXT.tokens.bounded}</span>}
        </label>
        {create.isError && <Problem error={create.error} />}
        <p class="actions">
          <button class="button main" disabled={create.isPending || scopes.length === 0}>
            {TEXT.tokens.make}
          </button>
        </p>
        <ApiCall method="POST" path="tokens" body={body} />
      </form>
      {create.isSuccess && (
        <div class="message" role="status">
          <p>{TEXT.tokens.once}</p>
          <pre tabIndex={0}>{create.data.token}</pre>
          <CopyButton text={create.data.token} />
        </div>
      )}
    </details>
  );
}
