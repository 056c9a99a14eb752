import type { FunctionComponent } from 'preact';
import { useRef } from 'preact/hooks';
import { Route, Switch, useLocation } from 'wouter-preact';
import { DeliveriesScreen } from '../screens/deliveries';
import { DeliveryScreen } from '../screens/delivery';
import { EventsScreen } from '../screens/events';
import { LiveScreen } from '../screens/live';
import { NotFoundScreen } from '../screens/not-found';
import { OverviewScreen } from '../screens/overview';
import { StoryScreen } from '../screens/story';
import { WebhookScreen } from '../screens/webhook';
import { WebhooksScreen } from '../screens/webhooks';
import { Toasts } from '../parts/toasts';
import { TEXT } from '../text/en';
import { ErrorBoundary } from './error-boundary';
import { lazy, rare } from './lazy';
import { Navigation } from './navigation';
import { Notices } from './notices';
import { Settled } from './settled';

type Screen = [path: string, component: FunctionComponent];

const GALLERY: Screen[] = DEVELOPMENT
  ? [['/parts', lazy('gallery', async () => (await import('../screens/gallery')).GalleryScreen)]]
  : [];

const SCREENS: Screen[] = [
  ['/', OverviewScreen],
  ['/webhooks', WebhooksScreen],
  ['/webhooks/new', rare('NewWebhookScreen')],
  ['/webhooks/:id/repair', rare('RepairScreen')],
  ['/webhooks/:id/:tab?', WebhookScreen],
  ['/deliveries', DeliveriesScreen],
  ['/deliveries/:id', DeliveryScreen],
  ['/live', LiveScreen],
  ['/events', EventsScreen],
  ['/events/:id', StoryScreen],
  ['/publish', rare('PublishScreen')],
  ['/event-types', rare('EventTypesScreen')],
  ['/event-types/:name', rare('EventTypeScreen')],
  ['/verify', rare('VerifyScreen')],
  ['/receiver', rare('ReceiverScreen')],
  ['/tokens', rare('TokensScreen')],
  ...GALLERY,
  ['/accounts', rare('AccountsScreen')],
  ['/accounts/:id', rare('AccountScreen')],
];

/** The frame around every screen. */
export function Shell() {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  // After a click on a link, screen readers say which screen this is.
  const focusHeading = () => {
    if (!isFirst.current) main.current?.querySelector('h1')?.focus({ preventScroll: true });
    isFirst.current = false;
  };
  return (
    <>
      <a class="skip" href="#main">
        {TEXT.skip}
      </a>
      <Navigation />
      <main id="main" ref={main}>
        <Notices />
        <ErrorBoundary key={path}>
          <Settled onSettled={focusHeading}>
            <Switch>
              {SCREENS.map(([route, component]) => (
                <Route key={route} path={route} component={component} />
              ))}
              <Route component={NotFoundScreen} />
            </Switch>
          </Settled>
        </ErrorBoundary>
      </main>
      <Toasts />
    </>
  );
}
