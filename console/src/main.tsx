import { render } from 'preact';
import { isFramed, reportHeight } from './api/frame';
import { findSession, session } from './api/session';
import { leaveToo } from './api/sign-in';
import { App } from './app/app';
import { FramedApp } from './app/framed-app';
import { hasCode, takeCode } from './app/link-code';
import './style/style.css';

// Before anything else runs: a code must not stay in the address.
const code = takeCode();

// A page that the browser has kept knows nothing of what has happened since: somebody may have signed out.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());

// A link to the page that is open: only the fragment changes, and the page is not loaded again.
addEventListener('hashchange', () => hasCode() && location.reload());

void findSession(leaveToo).then((found) => {
  // In a frame, a link replaces the session from before, even if its code turns out to be invalid.
  if (found && !(isFramed && code !== null)) session.set(found);
  const root = document.querySelector('#app');
  if (root) render(isFramed ? <FramedApp code={code} /> : <App code={code} />, root);
});

if (isFramed) {
  document.documentElement.classList.add('framed');
  reportHeight();
}
