import { CLOCK_TOLERANCE_MS, isLeasedElsewhere, JOB_LEASE_MS, leaseOfJob } from './lease';

const DUE_AT = 1_763_600_000_000;
const offer = (dueAt: number | undefined) => ({
  deliveryId: 'd',
  leasedUntilMs: leaseOfJob(dueAt),
  ownsDeliveryId: false,
});
const rowUntil = (leasedUntilMs: number) => ({ leasedUntilMs });

describe('The row of a queued job', () => {
  const own = DUE_AT + JOB_LEASE_MS;

  it.each([
    ['as it was inserted', own, false],
    ['as a clock that is a little ahead has written it', own + CLOCK_TOLERANCE_MS, false],
    ['as a clock that is a little behind has written it', own - CLOCK_TOLERANCE_MS, false],
    ['with a later lease: the sweeper or a worker has taken it', own + CLOCK_TOLERANCE_MS + 1, true],
    ['with a lease that ends when it is due: it was released to the sweeper', DUE_AT, true],
  ])('%s: leased elsewhere is %p', (_, leasedUntilMs, expected) => {
    expect(isLeasedElsewhere(rowUntil(leasedUntilMs as number), offer(DUE_AT))).toBe(expected);
  });

  it('is never leased elsewhere for a job of the sweeper, which names no time', () => {
    expect(isLeasedElsewhere(rowUntil(DUE_AT + 3_600_000), offer(undefined))).toBe(false);
  });
});
