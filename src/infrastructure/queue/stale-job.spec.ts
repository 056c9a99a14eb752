import { staleReason } from './workers.service';

describe('A job that a worker could not finish', () => {
  it.each([
    ['Missing lock for job 12. moveToFinished', 'missing_lock'],
    ['Lock mismatch for job 12. Cmd moveToFinished from active', 'lock_mismatch'],
    ['Missing key for job repeat:a:1. moveToFinished', 'missing_key'],
  ])('is stale: %s', (message, reason) => {
    expect(staleReason(new Error(message))).toBe(reason);
  });

  it.each([
    'Missing key for parent job bull:a:1. addJob',
    'could not renew lock for job 12',
    'Error: Missing lock for job 12. moveToFinished',
    'Connection terminated',
    '',
  ])('is not stale: %j', (message) => {
    expect(staleReason(new Error(message))).toBeNull();
  });
});
