import { randomBytes } from 'node:crypto';
import { formatLeaseId, leaseKeyOf, parseLeaseId } from './lease';

const ID = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';

describe('The id of a lease', () => {
  it('names its delivery and all of the random bits, and is read as it was written', () => {
    const random = randomBytes(16);
    const lease = leaseKeyOf(ID, random);
    expect(formatLeaseId(lease)).toBe(`${ID}.${random.toString('hex')}`);
    expect(parseLeaseId(formatLeaseId(lease))).toEqual(lease);
  });

  it.each(['', ID, `${ID}.`, `${ID}.${'g'.repeat(32)}`, `${ID}.${'0'.repeat(33)}`, `x${ID}.${'0'.repeat(32)}`])(
    'is not %j',
    (text) => {
      expect(parseLeaseId(text)).toBeNull();
    },
  );
});
