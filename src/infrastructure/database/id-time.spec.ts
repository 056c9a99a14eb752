import fc from 'fast-check';
import { v7 } from 'uuid';
import { idBounds, timeOfId } from './id-time';

describe('timeOfId', () => {
  it('reads the example of RFC 9562, A.6', () => {
    expect(timeOfId('017F22E2-79B0-7CC3-98C4-DC0C0C07398F')).toEqual(new Date('2022-02-22T19:22:22.000Z'));
  });

  it('returns the millisecond in which an id was created', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (at) => {
        expect(timeOfId(v7({ msecs: at.getTime() }))).toEqual(at);
      }),
    );
  });
});

describe('idBounds', () => {
  it('returns a single id twice', () => {
    expect(idBounds(['b'])).toEqual(['b', 'b']);
  });

  it('returns the lowest and the highest of ids in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.uuid(), { minLength: 1 }), (ids) => {
        const sorted = [...ids].sort();
        expect(idBounds(ids)).toEqual([sorted[0], sorted.at(-1)]);
      }),
    );
  });
});
