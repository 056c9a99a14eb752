import {
  Activity,
  Braces,
  Inbox,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  PlugZap,
  Radio,
  Send,
  ShieldCheck,
  SquarePen,
  Users,
} from 'lucide-preact';
import { TEXT } from '../text/en';

export interface Place {
  path: string;
  name: string;
  icon: LucideIcon;
}

const { nav } = TEXT;
export const RECEIVER: Place = { path: '/receiver', name: nav.receiver, icon: Inbox };

/** Where one can go, in groups of which the first needs no name. */
export const PLACES: readonly { name: string | null; places: readonly Place[] }[] = [
  {
    name: null,
    places: [
      { path: '/', name: nav.overview, icon: LayoutDashboard },
      { path: '/webhooks', name: nav.webhooks, icon: PlugZap },
      { path: '/deliveries', name: nav.deliveries, icon: Send },
      { path: '/live', name: TEXT.live.title, icon: Activity },
      { path: '/events', name: nav.events, icon: Radio },
    ],
  },
  {
    name: nav.build,
    places: [
      { path: '/publish', name: nav.publish, icon: SquarePen },
      { path: '/event-types', name: nav.eventTypes, icon: Braces },
      { path: '/verify', name: TEXT.verify.title, icon: ShieldCheck },
      RECEIVER,
    ],
  },
  {
    name: nav.account,
    places: [
      { path: '/tokens', name: nav.tokens, icon: KeyRound },
      { path: '/accounts', name: TEXT.accounts.title, icon: Users },
    ],
  },
];
