import fc from 'fast-check';
import { idBounds } from './id-bounds';

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
