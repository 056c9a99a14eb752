import { tallyOf } from './failure-tally';

const endings = (text: string) =>
  text.split(' ').map((ending) => ({ webhookId: ending.slice(0, 1), succeeded: ending.endsWith('+') }));

describe('A tally of failures', () => {
  it.each([
    ['a-', [{ webhookId: 'a', cleared: false, failures: 1 }]],
    ['a- a- a-', [{ webhookId: 'a', cleared: false, failures: 3 }]],
    ['a+', [{ webhookId: 'a', cleared: true, failures: 0 }]],
    ['a- a- a+', [{ webhookId: 'a', cleared: true, failures: 0 }]],
    ['a- a+ a- a-', [{ webhookId: 'a', cleared: true, failures: 2 }]],
  ])('of %s counts what came after the last success', (text, tallies) => {
    expect(tallyOf(endings(text))).toEqual(tallies);
  });

  it('is kept for each webhook, in the order of their ids', () => {
    expect(tallyOf(endings('b- a+ b+ c- a- b-'))).toEqual([
      { webhookId: 'a', cleared: true, failures: 1 },
      { webhookId: 'b', cleared: true, failures: 1 },
      { webhookId: 'c', cleared: false, failures: 1 },
    ]);
  });

  it('of nothing is empty', () => {
    expect(tallyOf([])).toEqual([]);
  });
});
