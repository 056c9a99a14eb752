import fc from 'fast-check';
import { delaysOf, delaysText, exactLength } from './delays';

describe('delays of retries as text', () => {
  it.each([
    ['1m, 5m, 2h', [60_000, 300_000, 7_200_000]],
    ['30s,1.5 h , 1d', [30_000, 5_400_000, 86_400_000]],
    ['500 ms, 10 SEC, 2 min', [500, 10_000, 120_000]],
    ['  ', []],
  ])('reads %j', (text, delays) => {
    expect(delaysOf(text)).toEqual({ delays });
  });

  it.each([
    ['5', '5'],
    ['1m, soon', 'soon'],
    ['1m,, 2m', ''],
    ['-1s', '-1s'],
    ['1m 30s', '1m 30s'],
  ])('names what it cannot read in %j', (text, wrong) => {
    expect(delaysOf(text)).toEqual({ wrong });
  });

  it('writes what it reads again', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(86_400_000)), (delays) => {
        expect(delaysOf(delaysText(delays))).toEqual({ delays });
      }),
    );
  });

  it('says the exact length', () => {
    expect(exactLength(90_000)).toBe('1 min 30 s');
    expect(exactLength(93_784_005)).toBe('1 d 2 h 3 min 4 s 5 ms');
    expect(exactLength(0)).toBe('0 s');
  });
});
