import type { FunctionComponent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Route, Switch, useLocation } from 'wouter-preact';
import { AccountScreen } from '../screens/account';
import { AccountsScreen } from '../screens/accounts';
import { DeliveriesScreen } from '../screens/deliveries';
import { DeliveryScreen } from '../screens/delivery';
import { EventTypeScreen, EventTypesScreen } from '../screens/event-types';
import { EventsScreen } from '../screens/events';
import { LiveScreen } from '../screens/live';
import { GalleryScreen } from '../screens/gallery';
import { NewWebhookScreen } from '../screens/new-webhook';
import { NotFoundScreen } from '../screens/not-found';
import { OverviewScreen } from '../screens/overview';
import { PublishScreen } from '../screens/publish';
import { ReceiverScreen } from '../screens/receiver';
import { RepairScreen } from '../screens/repair';
import { StoryScreen } from '../screens/story';
import { TokensScreen } from '../screens/tokens';
import { VerifyScreen } from '../screens/verify';
import { WebhookScreen } from '../screens/webhook';
import { WebhooksScreen } from '../screens/webhooks';
import { Toasts } from '../parts/toasts';
import { TEXT } from '../text/en';
import { ErrorBoundary } from './error-boundary';
import { Navigation } from './navigation';
import { Notices } from './notices';

const SCREENS: [string, FunctionComponent][] = [
  ['/', OverviewScreen],
  ['/webhooks', WebhooksScreen],
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
  ['/verify', VerifyScreen],
  ['/receiver', ReceiverScreen],
  ['/tokens', TokensScreen],
  ...(DEVELOPMENT ? [['/parts', GalleryScreen] satisfies [string, FunctionComponent]] : []),
  ['/accounts', AccountsScreen],
  ['/accounts/:id', AccountScreen],
];

/** The frame around every screen. */
export function Shell() {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    // After a click on a link, who does not see the page hears where he is.
    if (!isFirst.current) main.current?.querySelector('h1')?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [path]);
  return (
    <>
      <a class="skip" href="#main">
        {TEXT.skip}
      </a>
      <Navigation />
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
      <Toasts />
    </>
  );
}
