import type { FunctionComponent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link, Route, Switch, useLocation } from 'wouter-preact';
import { useAbout } from '../api/queries';
import { useSigned } from '../api/signed';
import { useUtc } from '../parts/time';
import { DeliveriesScreen } from '../screens/deliveries';
import { DeliveryScreen } from '../screens/delivery';
import { EventTypeScreen, EventTypesScreen } from '../screens/event-types';
import { EventsScreen } from '../screens/events';
import { LiveScreen } from '../screens/live';
import { NewWebhookScreen } from '../screens/new-webhook';
import { NotFoundScreen } from '../screens/not-found';
import { OverviewScreen } from '../screens/overview';
import { PublishScreen } from '../screens/publish';
import { ReceiverScreen } from '../screens/receiver';
import { RepairScreen } from '../screens/repair';
import { StoryScreen } from '../screens/story';
import { TokensScreen } from '../screens/tokens';
import { WebhookScreen } from '../screens/webhook';
import { TEXT } from '../text/en';
import { ErrorBoundary } from './error-boundary';
import { Notices } from './notices';
import { useTheme } from './theme';

const SCREENS: [string, FunctionComponent][] = [
  ['/', OverviewScreen],
  ['/webhooks/new', NewWebhookScreen],
  ['/webhooks/:id/repair', RepairScreen],
  ['/webhooks/:id/:tab?', WebhookScreen],
  ['/deliveries', DeliveriesScreen],
  ['/deliveries/:id', DeliveryScreen],
  ['/live', LiveScreen],
  ['/events', EventsScreen],
  ['/events/:id', StoryScreen],
  ['/publish', PublishScreen],
  ['/event-types', EventTypesScreen],
  ['/event-types/:name', EventTypeScreen],
  ['/receiver', ReceiverScreen],
  ['/tokens', TokensScreen],
];

const PLACES = [
  ['/', TEXT.nav.overview],
  ['/deliveries', TEXT.nav.deliveries],
  ['/live', TEXT.live.title],
  ['/events', TEXT.nav.events],
  ['/publish', TEXT.nav.publish],
  ['/event-types', TEXT.nav.eventTypes],
  ['/tokens', TEXT.nav.tokens],
] as const;
const RECEIVER = ['/receiver', TEXT.nav.receiver] as const;

/** The frame around every screen: where one can go, and who one is. */
export function Shell() {
  const [path] = useLocation();
  const about = useAbout();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    // After a click on a link, who does not see the page hears where he is.
    if (!isFirst.current) main.current?.querySelector('h1')?.focus();
    isFirst.current = false;
  }, [path]);
  return (
    <>
      <a class="skip" href="#main">
        {TEXT.skip}
      </a>
      <header class="top">
        <span class="brand">{TEXT.product}</span>
        <nav aria-label={TEXT.nav.label}>
          {[...PLACES, ...(about?.tryReceiver ? [RECEIVER] : [])].map(([to, name]) => (
            <Link key={to} href={to} aria-current={isIn(path, to) ? 'page' : undefined}>
              {name}
            </Link>
          ))}
        </nav>
        <Account />
      </header>
      <main id="main" ref={main}>
        <Notices />
        <ErrorBoundary key={path}>
          <Switch>
            {SCREENS.map(([route, component]) => (
              <Route key={route} path={route} component={component} />
            ))}
            <Route component={NotFoundScreen} />
          </Switch>
        </ErrorBoundary>
      </main>
    </>
  );
}

const isIn = (path: string, place: string): boolean =>
  place === '/' ? path === '/' : path === place || path.startsWith(`${place}/`);

function Account() {
  const { session, signOut } = useSigned();
  const [theme, setTheme] = useTheme();
  const [isUtc, setUtc] = useUtc();
  return (
    <details class="account">
      <summary>
        <span class="unseen">{TEXT.nav.signedInAs} </span>
        <span>{session.userId}</span>
      </summary>
      <div class="menu">
        <label>
          {TEXT.nav.theme}
          <select value={theme} onChange={({ currentTarget }) => setTheme(currentTarget.value)}>
            {Object.entries(TEXT.nav.themes).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="row">
          <input type="checkbox" checked={isUtc} onChange={({ currentTarget }) => setUtc(currentTarget.checked)} />
          {TEXT.nav.utc}
        </label>
        <button type="button" class="button" onClick={signOut}>
          {TEXT.nav.signOut}
        </button>
      </div>
    </details>
  );
}
