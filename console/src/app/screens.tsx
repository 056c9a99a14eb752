import { QueryClientProvider } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { Router } from 'wouter-preact';
import { CONSOLE_PATH } from '../api/base';
import { newClient } from '../api/client';
import { type Signed, SignedProvider } from '../api/signed';
import { Shell } from './shell';

/** The screens of a signed-in user; `children` are the dialogs over them. */
export function Screens({ signed, children }: { signed: Signed; children?: ComponentChildren }) {
  const { token, userId } = signed.session;
  // What one user has seen is not there for the next.
  const client = useMemo(newClient, [userId]);
  // With the next token everything that is seen is asked for again.
  useEffect(() => void client.invalidateQueries(), [token]);
  return (
    <QueryClientProvider client={client} key={userId}>
      <SignedProvider value={signed}>
        <Router base={CONSOLE_PATH}>
          <Shell />
        </Router>
        {children}
      </SignedProvider>
    </QueryClientProvider>
  );
}
