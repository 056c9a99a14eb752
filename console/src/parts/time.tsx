import { TEXT } from '../text/en';
import { ofBrowser } from '../api/storage';
import { Shared, useShared } from './shared';

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });
const CLOCK: Intl.DateTimeFormatOptions = {
  ...{ year: 'numeric', month: 'short', day: '2-digit' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZoneName: 'short' },
};

/** Such as `3 min. ago`. What is not past yet, by a clock that is a little behind, is `just now`. */
export function agoOf(at: string, now: number): string {
  const ms = now - Date.parse(at);
  const unit = UNITS.find(([, each]) => ms >= each);
  return unit ? relative.format(-Math.round(ms / unit[1]), unit[0]) : 'just now';
}

const DAY_MS = 86_400_000;
const parts = (options: Intl.DateTimeFormatOptions) => ({
  utc: new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' }),
  zone: new Intl.DateTimeFormat('en-GB', options),
});
const toSecondOfDate = parts(CLOCK);
const toMillisecondOfDate = parts({ ...CLOCK, fractionalSecondDigits: 3 });
const inDay = parts({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const inYear = parts({ day: 'numeric', month: 'short' });
const toSecond = parts({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const toMillisecond = parts({
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  fractionalSecondDigits: 3,
});

/** Date and time, for sentences. The zone is the browser's, under the name that it has on that day: clocks may have changed since. */
export const dateOf = (at: string, isUtc: boolean): string =>
  toSecondOfDate[isUtc ? 'utc' : 'zone'].format(Date.parse(at));

/** The same to the millisecond. */
export const exactOf = (at: string, isUtc: boolean): string =>
  toMillisecondOfDate[isUtc ? 'utc' : 'zone'].format(Date.parse(at));

/** As short as it is clear: the time of day within about a day, otherwise the date. `stepMs`: how exact it is. */
export function clockOf(at: string, isUtc: boolean, stepMs = 0): string {
  const isNear = Date.now() - Date.parse(at) < DAY_MS && stepMs < DAY_MS;
  return (isNear ? inDay : inYear)[isUtc ? 'utc' : 'zone'].format(Date.parse(at));
}

/** The time as a field of a date has it: without a zone, that of the browser. */
export const localText = (at: Date): string =>
  new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);

/** The length of time in words, such as `4 min`. */
export function lengthOf(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? ['second', 1000];
  return `${Math.round(ms / size)} ${unit === 'second' ? 's' : unit === 'minute' ? 'min' : unit === 'hour' ? 'h' : 'd'}`;
}

const utc = new Shared(ofBrowser.getItem('webhooks.utc') === 'true');

/** Whether times are shown in UTC, and a way to change it. */
export function useUtc(): [boolean, (next: boolean) => void] {
  const change = (next: boolean) => {
    ofBrowser.setItem('webhooks.utc', String(next));
    utc.set(next);
  };
  return [useShared(utc), change];
}

// One timer for a page with hundreds of times on it.
const clock = new Shared(Date.now());
setInterval(() => clock.set(Date.now()), 5000);

/** The time now, which goes on by itself, to within five seconds. */
export const useNow = (): number => useShared(clock);

/** How long ago, with the exact time beside it on hover and for who listens. */
export function Ago({ at, none = '–' }: { at: string | null; none?: string }) {
  const now = useNow();
  const [isUtc] = useUtc();
  if (!at) return <span class="muted">{none}</span>;
  return (
    <time dateTime={at} title={titleOf(at, isUtc)}>
      {agoOf(at, now)}
    </time>
  );
}

/** The time of day to the second, before today with its date. `isExact`: to the millisecond. */
export function LogTime({ at, isExact = false }: { at: string; isExact?: boolean }) {
  const [isUtc] = useUtc();
  const zone = isUtc ? 'utc' : 'zone';
  const time = Date.parse(at);
  const day = inYear[zone].format(time);
  const clock = (isExact ? toMillisecond : toSecond)[zone].format(time);
  return (
    <time class="number" dateTime={at} title={titleOf(at, isUtc)}>
      {day === inYear[zone].format(Date.now()) ? clock : `${day}, ${clock}`}
    </time>
  );
}

/** The time until then, such as `in 3 min`. */
export function Due({ at }: { at: string }) {
  const now = useNow();
  const [isUtc] = useUtc();
  return (
    <time dateTime={at} title={titleOf(at, isUtc)}>
      {TEXT.log.retryIn(lengthOf(Math.max(0, Date.parse(at) - now)))}
    </time>
  );
}

const titleOf = (at: string, isUtc: boolean): string => {
  const exact = exactOf(at, isUtc);
  return isUtc ? exact : `${exact} · ${exactOf(at, true)}`;
};

/** The exact time. */
export function At({ at }: { at: string }) {
  const [isUtc] = useUtc();
  return (
    <time class="number" dateTime={at} title={exactOf(at, true)}>
      {exactOf(at, isUtc)}
    </time>
  );
}
