import { tallyOf } from './failure-tally';

const URL = 'https://a.example/';
const [EARLY, LATE] = [new Date(1000), new Date(2000)];

const endings = (text: string) =>
  text.split(' ').map((ending) => ({
    webhookId: ending.slice(0, 1),
    url: URL,
    attemptedAt: LATE,
    succeeded: ending.endsWith('+'),
  }));

describe('A tally of failures', () => {
  it.each([
    ['a-', [{ webhookId: 'a', cleared: false, failures: 1 }]],
    ['a- a- a-', [{ webhookId: 'a', cleared: false, failures: 3 }]],
    ['a+', [{ webhookId: 'a', cleared: true, failures: 0 }]],
    ['a- a- a+', [{ webhookId: 'a', cleared: true, failures: 0 }]],
    ['a- a+ a- a-', [{ webhookId: 'a', cleared: true, failures: 2 }]],
  ])('of %s counts what came after the last success', (text, tallies) => {
    expect(tallyOf(endings(text))).toMatchObject(tallies);
  });

  it('is kept for each webhook, in the order of their ids', () => {
    expect(tallyOf(endings('b- a+ b+ c- a- b-'))).toMatchObject([
      { webhookId: 'a', cleared: true, failures: 1 },
      { webhookId: 'b', cleared: true, failures: 1 },
      { webhookId: 'c', cleared: false, failures: 1 },
    ]);
  });

  it('is kept for each url, with the time of the first request', () => {
    const [ending] = endings('a-');
    const other = { ...ending!, url: 'https://b.example/' };
    expect(tallyOf([ending!, other, { ...ending!, attemptedAt: EARLY }])).toEqual([
      { webhookId: 'a', url: URL, cleared: false, failures: 2, firstAttemptedAt: EARLY },
      { webhookId: 'a', url: other.url, cleared: false, failures: 1, firstAttemptedAt: LATE },
    ]);
  });

  it('of nothing is empty', () => {
    expect(tallyOf([])).toEqual([]);
  });
});
