const countText = (count: number): string => count.toLocaleString('en');
const eventsText = (count: number): string => (count === 1 ? '1 event' : `${countText(count)} events`);

/** The sentences of the page that repairs a webhook. */
export const REPAIR = {
  title: 'Repair',
  titleOf: (name: string) => `Repair ${name}`,
  see: 'What happened',
  understand: 'Why',
  test: 'Test',
  activate: 'Activate',
  recover: 'Recover',
  failing: (since: string | null) => (since ? `It has been failing since ${since}.` : 'It is failing.'),
  degraded: 'Some attempts of the last hour failed.',
  healthy: 'Deliveries are arriving.',
  no_traffic: 'Nothing was sent in the last 24 hours.',
  disabled: (at: string | null) => (at ? `Deliveries stopped when it was disabled on ${at}.` : 'It is switched off.'),
  gaveUp: (count: number) => `${eventsText(count)} in a row gave up.`,
  waiting: (count: number, isMost: boolean) =>
    `${eventsText(count)}${isMost ? ' or more' : ''} still waiting to be sent.`,
  willBeDisabled: (at: string) => `It will be disabled on ${at} unless a delivery succeeds.`,
  lastWeek: 'The last seven days',
  newest: 'The newest failed attempts',
  testSays: 'Send the event that failed. Repeat until the receiver accepts it.',
  testAny: 'Nothing failed. Send a test to see how the receiver responds now.',
  activateSays: 'Deliveries begin again. Events that were missed meanwhile are resent in the next step.',
  isOn: 'It is active.',
  recoverSays: 'Resend events that gave up, were canceled, or were never sent. Pending retries continue by themselves.',
  since: 'Events since',
  count: 'Count missed events',
  counted: (count: number) => (count === 0 ? 'No event was missed.' : `${eventsText(count)} did not arrive.`),
  countedSome: (count: number) =>
    `Of the newest events, ${count === 0 ? 'all arrived or are on their way' : `${countText(count)} did not arrive`}. There are too many to count all.`,
  start: (count: number) => `Resend ${countText(count)}`,
  startAll: 'Resend all',
  activateFirst: 'Activate the webhook first.',
  sending: (sent: number, count: number | null) =>
    count === null ? `${countText(sent)} sent` : `${countText(sent)} of ${countText(count)} sent`,
  left: (length: string) => `About ${length} left at the pace so far.`,
  delivered: (count: number) => `${countText(count)} delivered`,
  allDelivered: (count: number) => (count === 1 ? '1 event was delivered.' : `All ${countText(count)} were delivered.`),
  stillFailing: (count: number, isMost: boolean) => `${countText(count)}${isMost ? '+' : ''} still failing`,
  canceled: (count: number) => `${countText(count)} canceled`,
  showThem: 'Show them',
  inLog: 'Show all that gave up in the log',
  nothingSent: 'Nothing had to be resent.',
};
