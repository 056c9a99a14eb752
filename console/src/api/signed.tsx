import { createContext } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { Api } from './call';
import { session } from './session';
import type { Session } from './session-shape';
import type { Scope } from './types';

/** What every screen has: the service with the token of this tab, and whose it is. */
export interface Signed {
  api: Api;
  session: Session;
  /** True when the token may do this. */
  may: (scope: Scope) => boolean;
  /** Null in a frame, whose host page decides who is signed in. */
  signOut: (() => void) | null;
}

const SignedContext = createContext<Signed | null>(null);
export const SignedProvider = SignedContext.Provider;

/** @throws Error outside of the screens that need a session */
export function useSigned(): Signed {
  const signed = useContext(SignedContext);
  if (!signed) throw new Error('There is no session.');
  return signed;
}

export function useSession(): Session | null {
  const [value, setValue] = useState(session.get());
  useEffect(() => session.subscribe(() => setValue(session.get())), []);
  return value;
}

/** @param onUnauthenticated called when the service does not take the token any more */
export function useSignedValue(
  current: Session | null,
  onUnauthenticated: () => void,
  signOut: Signed['signOut'],
): Signed | null {
  return useMemo(
    () =>
      current && {
        api: new Api(current.token, onUnauthenticated),
        session: current,
        may: (scope) => current.scopes.includes(scope),
        signOut,
      },
    [current],
  );
}
