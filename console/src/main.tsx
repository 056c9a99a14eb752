import { render } from 'preact';
import { findSession, session } from './api/session';
import { App } from './app/app';
import { takeCode } from './app/link-code';
import './style/style.css';

// Before anything else runs: a code must not stay in the address.
const code = takeCode();

void findSession().then((found) => {
  if (found) session.set(found);
  const root = document.querySelector('#app');
  if (root) render(<App code={code} />, root);
});
