import fc from 'fast-check';
import type { CursorScope } from '../../infrastructure/pagination/page';
import { type ChangePosition, decodeChangeCursor, encodeChangeCursor } from './change-position';

const NOW = new Date('2026-01-15T09:30:00Z');
const KEY = Buffer.alloc(32, 1);
const SCOPE: CursorScope = ['alice', 'changes of deliveries', { status: ['failed'] }];
const AT: ChangePosition = { history: '7.00000001', base: '5:9:6,7', upTo: null };
const later = (ms: number) => new Date(NOW.getTime() + ms);

const xid = fc.bigInt({ min: 0n, max: 2n ** 63n }).map(String);
const snapshot = fc
  .tuple(xid, xid, fc.array(xid, { maxLength: 20 }))
  .map(([xmin, xmax, running]) => `${xmin}:${xmax}:${running.join(',')}`);
const upTo = fc.record({ target: snapshot, changedIn: xid, id: fc.uuid(), isWhole: fc.boolean() });
const history = fc.tuple(xid, fc.constantFrom('00000001', '0000000A', 'standby')).map((parts) => parts.join('.'));
const position: fc.Arbitrary<ChangePosition> = fc.record({ history, base: snapshot, upTo: fc.option(upTo) });

describe('A change cursor', () => {
  it('returns its position for five minutes', () => {
    fc.assert(
      fc.property(position, fc.integer({ min: 0, max: 300_000 }), (there, ms) => {
        expect(decodeChangeCursor(encodeChangeCursor(there, SCOPE, NOW, KEY), SCOPE, later(ms), KEY)).toEqual(there);
      }),
    );
  });

  it('is rejected after five minutes', () => {
    const cursor = encodeChangeCursor(AT, SCOPE, NOW, KEY);
    expect(decodeChangeCursor(cursor, SCOPE, later(300_001), KEY)).toBeNull();
  });

  it('is rejected when a wrong clock dated it more than five minutes ahead', () => {
    const cursor = encodeChangeCursor(AT, SCOPE, later(300_001), KEY);
    expect(decodeChangeCursor(cursor, SCOPE, NOW, KEY)).toBeNull();
  });

  it('is rejected for another user, list or filter, and after any modification', () => {
    const cursor = encodeChangeCursor(AT, SCOPE, NOW, KEY);
    const others: CursorScope[] = [
      ['bob', SCOPE[1], SCOPE[2]],
      ['alice', 'deliveries', SCOPE[2]],
      ['alice', SCOPE[1], {}],
    ];
    for (const scope of others) expect(decodeChangeCursor(cursor, scope, NOW, KEY)).toBeNull();
    for (const forged of ['', 'now', cursor.slice(1), `${cursor}A`, cursor.replace(/.$/, '')]) {
      expect(decodeChangeCursor(forged, SCOPE, NOW, KEY)).toBeNull();
    }
  });

  it('is rejected when it is signed with another key', () => {
    const cursor = encodeChangeCursor(AT, SCOPE, NOW, Buffer.alloc(32, 2));
    expect(decodeChangeCursor(cursor, SCOPE, NOW, KEY)).toBeNull();
  });
});
