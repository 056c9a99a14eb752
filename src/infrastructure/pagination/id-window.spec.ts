import { ApiError, MESSAGES } from '../errors/api-error';
import { type CursorScope, encodeCursor, idWindow, keysetStart } from './page';
import { lowestIdOf } from '../database/id-time';

const ID = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';
const scope: CursorScope = ['alice', 'events', {}];
const cursor = encodeCursor(ID, scope);
const [earlier, later] = [new Date(0x0199c3a40000), new Date(0x0199c3a50000)];

describe('idWindow', () => {
  it('includes every id by default', () => {
    expect(idWindow({ limit: 50 }, scope)).toEqual({ from: null, before: null });
  });

  it('starts at the first id of since', () => {
    expect(idWindow({ limit: 50, since: earlier }, scope).from).toBe(lowestIdOf(earlier.getTime()));
  });

  it.each([
    ['the cursor', { cursor }, ID],
    ['until', { until: later }, lowestIdOf(later.getTime())],
    ['the cursor that is before until', { cursor, until: later }, ID],
    ['until that is before the cursor', { cursor, until: earlier }, lowestIdOf(earlier.getTime())],
  ])('ends before %s', (_, page, before) => {
    expect(idWindow({ limit: 50, ...page }, scope).before).toBe(before);
  });

  it('rejects a cursor of another list', () => {
    expect(() => idWindow({ limit: 50, cursor }, ['bob', 'events', {}])).toThrow(ApiError);
  });
});

const alices: CursorScope = ['alice', 'webhooks', {}];
const bobs: CursorScope = ['bob', 'webhooks', {}];

describe('keysetStart', () => {
  it('starts at the top without a cursor and after the row of a cursor', () => {
    expect(keysetStart(undefined, alices)).toBeNull();
    expect(keysetStart(encodeCursor(ID, alices), alices)).toBe(ID);
  });

  it.each(['', 'x', encodeCursor(ID, bobs)])('throws 400 for the cursor %p', (cursor) => {
    expect(() => keysetStart(cursor, alices)).toThrow(new ApiError('cursor_invalid', MESSAGES.badCursor));
    expect(() => keysetStart(cursor, alices)).toThrow(expect.objectContaining({ status: 400 }));
  });
});
