import fc from 'fast-check';
import { type CursorScope, decodeCursor, encodeCursor } from './page';

const ID = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';
const SCOPE: CursorScope = ['alice', 'webhooks', { active: true, event: 'job.started' }];
const CURSOR = encodeCursor(ID, SCOPE);
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=';

const filters = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.boolean(), fc.date({ noInvalidDate: true })));
const scopes = fc.tuple(fc.string(), fc.string(), filters);

describe('A cursor', () => {
  it('returns its id for the scope that it was created for', () => {
    fc.assert(
      fc.property(fc.uuid(), scopes, (id, scope) => {
        expect(decodeCursor(encodeCursor(id, scope), scope)).toBe(id);
      }),
    );
  });

  it('is rejected for every other scope', () => {
    fc.assert(
      fc.property(fc.uuid(), scopes, scopes, (id, scope, other) => {
        fc.pre(JSON.stringify(scope) !== JSON.stringify(other));
        expect(decodeCursor(encodeCursor(id, scope), other)).toBeNull();
      }),
    );
  });

  it.each<[what: string, scope: CursorScope]>([
    ['another user', ['bob', 'webhooks', SCOPE[2]]],
    ['another list', ['alice', 'events', SCOPE[2]]],
    ['another value of a filter', ['alice', 'webhooks', { active: false, event: 'job.started' }]],
    ['a value of another type', ['alice', 'webhooks', { active: 'true', event: 'job.started' }]],
    ['one filter less', ['alice', 'webhooks', { active: true }]],
    ['one filter more', ['alice', 'webhooks', { ...SCOPE[2], since: new Date(0) }]],
    ['a border moved between user and list', ['alicewebhooks', '', SCOPE[2]]],
  ])('is rejected for %s', (_, scope) => {
    expect(decodeCursor(CURSOR, scope)).toBeNull();
  });

  it('is rejected with any one character changed, removed or added', () => {
    const changed = [...CURSOR].flatMap((old, at) => {
      const [before, after] = [CURSOR.slice(0, at), CURSOR.slice(at + 1)];
      const replaced = [...BASE64].filter((char) => char !== old).map((char) => before + char + after);
      return [...replaced, before + after, `${before}A${old}${after}`, `${before} ${old}${after}`];
    });
    const forged = [...changed, `${CURSOR}A`, `${CURSOR}=`, `${CURSOR}\n`];
    expect(forged.length).toBeGreaterThan(4000);
    expect(forged.filter((cursor) => decodeCursor(cursor, SCOPE) !== null)).toEqual([]);
  });

  it.each([
    ['empty', ''],
    ['a bare id', ID],
    ['an encoded id without a checksum', Buffer.from(ID).toString('base64url')],
    ['a third part', Buffer.from(`${Buffer.from(CURSOR, 'base64url').toString()}.x`).toString('base64url')],
    ['made of something that is no id', encodeCursor("' or 1=1", SCOPE)],
    ['made of an id in capitals', encodeCursor(ID.toUpperCase(), SCOPE)],
  ])('is rejected when it is %s', (_, cursor) => {
    expect(decodeCursor(cursor, SCOPE)).toBeNull();
  });

  it('needs no encoding in a query string', () => {
    expect(encodeURIComponent(CURSOR)).toBe(CURSOR);
  });
});
