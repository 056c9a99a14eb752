import { tallyOf } from './failure-tally';

const URL = 'https://a.example/';
const [EARLY, LATE] = [new Date(1000), new Date(2000)];

/** `a-` is a failure of webhook a, `a+` a success, `a~` a failure of an event about webhooks. */
const outcomes = (text: string) =>
  text.split(' ').map((outcome) => ({
    webhookId: outcome.slice(0, 1),
    url: URL,
    attemptedAt: LATE,
    succeeded: outcome.endsWith('+'),
    isAboutWebhooks: outcome.endsWith('~'),
  }));

describe('tallyOf', () => {
  it.each([
    ['a-', [{ webhookId: 'a', cleared: false, failures: 1 }]],
    ['a- a- a-', [{ webhookId: 'a', cleared: false, failures: 3 }]],
    ['a+', [{ webhookId: 'a', cleared: true, failures: 0 }]],
    ['a- a- a+', [{ webhookId: 'a', cleared: true, failures: 0 }]],
    ['a- a+ a- a-', [{ webhookId: 'a', cleared: true, failures: 2 }]],
  ])('counts the failures after the last success in %s', (text, tallies) => {
    expect(tallyOf(outcomes(text))).toMatchObject(tallies);
  });

  it.each([
    ['a- a-', 0],
    ['a+ a-', 0],
    ['a- a- a+', 2],
    ['a- a- a+ a- a+ a-', 2],
    ['a- a~ a+', 2],
  ])('counts the failures before the first success in %s', (text, failuresBefore) => {
    expect(tallyOf(outcomes(text))).toMatchObject([{ failuresBefore }]);
  });

  it.each([
    ['a-', true],
    ['a~', false],
    ['a~ a- a~', true],
    ['a- a+ a~', false],
    ['a~ a+ a-', true],
    ['a- a+', false],
  ])('finds in %s whether a failure that may make the webhook failing is left', (text, mayFail) => {
    expect(tallyOf(outcomes(text))).toMatchObject([{ mayFail }]);
  });

  it('counts each webhook separately and sorts by webhook id', () => {
    expect(tallyOf(outcomes('b- a+ b+ c- a- b-'))).toMatchObject([
      { webhookId: 'a', cleared: true, failures: 1 },
      { webhookId: 'b', cleared: true, failures: 1 },
      { webhookId: 'c', cleared: false, failures: 1 },
    ]);
  });

  it('counts each URL separately and returns the time of the first request', () => {
    const [outcome] = outcomes('a-');
    const other = { ...outcome!, url: 'https://b.example/' };
    const rest = { webhookId: 'a', cleared: false, failuresBefore: 0, mayFail: true };
    expect(tallyOf([outcome!, other, { ...outcome!, attemptedAt: EARLY }])).toEqual([
      { ...rest, url: URL, failures: 2, firstAttemptedAt: EARLY },
      { ...rest, url: other.url, failures: 1, firstAttemptedAt: LATE },
    ]);
  });

  it('returns an empty list without outcomes', () => {
    expect(tallyOf([])).toEqual([]);
  });
});
