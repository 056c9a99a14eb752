import { render } from 'preact';
import { findSession, session } from './api/session';
import { leaveToo } from './api/sign-in';
import { App } from './app/app';
import { takeCode } from './app/link-code';
import './style/style.css';

// Before anything else runs: a code must not stay in the address.
const code = takeCode();

// A page that the browser has kept knows nothing of what has happened since: somebody may have signed out.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());

void findSession(leaveToo).then((found) => {
  if (found) session.set(found);
  const root = document.querySelector('#app');
  if (root) render(<App code={code} />, root);
});
