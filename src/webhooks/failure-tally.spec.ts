import { tallyOf } from './failure-tally';

const URL = 'https://a.example/';
const [EARLY, LATE] = [new Date(1000), new Date(2000)];

const outcomes = (text: string) =>
  text.split(' ').map((outcome) => ({
    webhookId: outcome.slice(0, 1),
    url: URL,
    attemptedAt: LATE,
    succeeded: outcome.endsWith('+'),
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
    expect(tallyOf([outcome!, other, { ...outcome!, attemptedAt: EARLY }])).toEqual([
      { webhookId: 'a', url: URL, cleared: false, failures: 2, firstAttemptedAt: EARLY },
      { webhookId: 'a', url: other.url, cleared: false, failures: 1, firstAttemptedAt: LATE },
    ]);
  });

  it('returns an empty list without outcomes', () => {
    expect(tallyOf([])).toEqual([]);
  });
});
