import { useState } from 'preact/hooks';
import { session } from '../api/session';
import type { Session } from '../api/session-shape';
import { signInWith } from '../api/sign-in';
import { TEXT } from '../text/en';
import { Problem } from './problem';

/** One field for a token. Password managers and pasting work. */
export function TokenForm({ onSession }: { onSession: (next: Session) => void }) {
  const [token, setToken] = useState('');
  const [isShown, setShown] = useState(false);
  const [keeps, setKeeps] = useState(true);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const next = await signInWith(token.trim());
      onSession(next);
      if (!keeps) session.set(next, false);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form onSubmit={(event) => void submit(event)} class="stack">
      <label>
        {TEXT.signIn.token}
        <span class="field">
          <input
            type={isShown ? 'text' : 'password'}
            name="token"
            autocomplete="current-password"
            spellcheck={false}
            required
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
          <button type="button" class="button quiet" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
            {isShown ? TEXT.signIn.hide : TEXT.signIn.show}
          </button>
        </span>
      </label>
      <label class="row">
        <input type="checkbox" checked={keeps} onChange={({ currentTarget }) => setKeeps(currentTarget.checked)} />
        {TEXT.signIn.keep}
      </label>
      {error !== null && <Problem error={error} />}
      <button class="button main" disabled={isBusy}>
        {TEXT.signIn.submit}
      </button>
    </form>
  );
}
