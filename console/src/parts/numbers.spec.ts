import { countText, msText, shareOf, shareText } from './numbers';

describe('A share of attempts', () => {
  it.each([
    [0, 0, null],
    [1, 0, '100'],
    [0, 5, '0'],
    [1, 2, '33.3'],
    [987, 13, '98.7'],
    [9998, 2, '99.98'],
    [999_999, 1, '99.99'],
    [9_990, 10, '99.9'],
  ])('of %i delivered and %i failed is %s', (succeeded, failed, text) => {
    const share = shareOf({ succeeded, failed });
    expect(share === null ? null : shareText(share)).toBe(text);
  });
});

it.each([
  [null, '–'],
  [0, '0 ms'],
  [999, '999 ms'],
  [1000, '1.0 s'],
  [12_345, '12.3 s'],
])('%s ms are %s', (ms, text) => {
  expect(msText(ms)).toBe(text);
});

it('says that there may be more', () => {
  expect([countText(999), countText(1204), countText(10_000, true)]).toEqual(['999', '1,204', '10,000+']);
});
