import { ChevronsUpDown, Menu, Webhook } from 'lucide-preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { consoleName } from '../api/page-settings';
import { useAbout } from '../api/queries';
import { useSigned } from '../api/signed';
import { Icon } from '../parts/icon';
import { useShortcutsSwitch } from '../parts/shortcuts';
import { useUtc } from '../parts/time';
import { TEXT } from '../text/en';
import { LookUp } from './look-up';
import { type Place, PLACES, RECEIVER } from './places';
import { useTheme } from './theme';

/** Where one can go, and who one is: a column beside the page, on a phone a menu over it. */
export function Navigation() {
  const [path] = useLocation();
  const about = useAbout();
  const places = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The column is no open menu: hiding it does nothing.
    if (places.current?.matches(':popover-open')) places.current.hidePopover();
  }, [path]);
  const isThere = (place: Place) => place !== RECEIVER || about?.tryReceiver === true;
  return (
    <header class="top">
      <Link class="brand" href="/">
        <span>
          <Icon of={Webhook} />
        </span>
        <span>{consoleName}</span>
      </Link>
      <button type="button" class="button places-button" popovertarget="places" aria-label={TEXT.nav.menu}>
        <Icon of={Menu} size={20} />
      </button>
      <div class="places" id="places" popover="auto" ref={places}>
        <LookUp />
        <nav aria-label={TEXT.nav.label}>
          {PLACES.map((group) => (
            <section key={group.name} aria-label={group.name ?? undefined}>
              {group.name && <h2 aria-hidden="true">{group.name}</h2>}
              <ul>
                {group.places.filter(isThere).map((place) => (
                  <li key={place.path}>
                    <Link href={place.path} aria-current={isIn(path, place.path) ? 'page' : undefined}>
                      <Icon of={place.icon} />
                      {place.name}
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </nav>
        <Account />
      </div>
    </header>
  );
}

const isIn = (path: string, place: string): boolean =>
  place === '/' ? path === '/' : path === place || path.startsWith(`${place}/`);

function Account() {
  const { session, signOut } = useSigned();
  const [theme, setTheme] = useTheme();
  const [isUtc, setUtc] = useUtc();
  const [hasShortcuts, setShortcuts] = useShortcutsSwitch();
  return (
    <>
      <button type="button" class="who" popovertarget="account">
        <span class="initial" aria-hidden="true">
          {[...session.userId][0]?.toUpperCase()}
        </span>
        <span>
          <span class="unseen">{TEXT.nav.signedInAs} </span>
          <span class="name">{session.userId}</span>
          <small>{TEXT.nav.scopes(session.scopes.length)}</small>
        </span>
        <Icon of={ChevronsUpDown} />
      </button>
      <div class="account" id="account" popover="auto">
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
        <label class="row">
          <input
            type="checkbox"
            checked={hasShortcuts}
            onChange={({ currentTarget }) => setShortcuts(currentTarget.checked)}
          />
          {TEXT.nav.shortcuts}
        </label>
        {hasShortcuts && <p class="muted small">{TEXT.nav.keys}</p>}
        {signOut && (
          <button type="button" class="button" onClick={signOut}>
            {TEXT.nav.signOut}
          </button>
        )}
      </div>
    </>
  );
}
