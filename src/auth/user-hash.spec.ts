import { createHmac } from 'node:crypto';
import { userHashes } from './erasing-users.service';

const KEYS = [Buffer.alloc(32, 2), Buffer.alloc(32, 1)];

describe('The hashes of a user', () => {
  it('differ for another user and for another key', () => {
    const hashes = [...userHashes('alice', KEYS), ...userHashes('alicf', KEYS)];
    expect(new Set(hashes.map((hash) => hash.toString('hex'))).size).toBe(4);
  });

  it('are HMACs under each key, in the order of the keys', () => {
    expect(userHashes('alice', KEYS)).toEqual(
      KEYS.map((key) => createHmac('sha256', key).update('erased user\0alice').digest()),
    );
  });
});
