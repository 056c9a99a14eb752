import { ApiError } from '../errors/api-error';
import { MESSAGES } from '../errors/messages';
import { type CursorScope, encodeCursor } from './cursor';
import { keysetStart } from './keyset';

const ID = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';
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
