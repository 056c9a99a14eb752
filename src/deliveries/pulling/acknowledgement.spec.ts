import fc from 'fast-check';
import { ApiError } from '../../infrastructure/errors/api-error';
import { parseAcknowledgements } from './acknowledgement';

function fieldsOf(body: unknown): string[] {
  try {
    parseAcknowledgements(body);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.details?.map(({ field }) => field) ?? [];
  }
}

describe('An acknowledgement', () => {
  it('names what succeeded, and what failed for what reason', () => {
    expect(
      parseAcknowledgements({ succeeded: ['a'], failed: [{ leaseId: 'b', message: 'no' }, { leaseId: 'c' }] }),
    ).toEqual([
      { leaseId: 'a', succeeded: true, message: null },
      { leaseId: 'b', succeeded: false, message: 'no' },
      { leaseId: 'c', succeeded: false, message: null },
    ]);
  });

  it.each([
    ['no object', [], ['body']],
    ['nothing', {}, ['body']],
    ['one lease twice', { succeeded: ['a'], failed: [{ leaseId: 'a' }] }, ['body']],
    ['101 leases', { succeeded: Array.from({ length: 100 }, String), failed: [{ leaseId: 'a' }] }, ['body']],
    ['a long list', { succeeded: Array.from({ length: 101 }, String) }, ['succeeded']],
    ['no list', { succeeded: 'a' }, ['succeeded']],
    ['unknown fields', { succeeded: ['a'], done: 1, constructor: 1 }, ['done', 'constructor']],
    ['an id that is none', { succeeded: [1] }, ['leaseId']],
    ['a long id', { succeeded: ['a'.repeat(129)] }, ['leaseId']],
    ['a failure without a lease', { failed: [{}] }, ['leaseId']],
    ['a failure that is no object', { failed: ['a'] }, ['failed', 'leaseId']],
    ['an unknown field of a failure', { failed: [{ leaseId: 'a', reason: 'b' }] }, ['failed.reason']],
    ['a long reason', { failed: [{ leaseId: 'a', message: 'a'.repeat(501) }] }, ['failed.message']],
    ['a reason that cannot be stored', { failed: [{ leaseId: 'a', message: '\0' }] }, ['failed.message']],
  ])('must not have %s', (_, body, fields) => {
    expect(fieldsOf(body)).toEqual(fields);
  });

  it('is parsed or refused, whatever it is', () => {
    fc.assert(fc.property(fc.jsonValue(), (body) => void fieldsOf(body)));
    const failed = fc.array(fc.record({ leaseId: fc.jsonValue(), message: fc.jsonValue() }));
    fc.assert(fc.property(fc.record({ succeeded: fc.array(fc.jsonValue()), failed }), (body) => void fieldsOf(body)));
  });
});
