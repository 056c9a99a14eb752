import type { ClaimedDelivery } from '../rows/attempt';
import type { DeferralService } from '../slots/deferral.service';
import type { BacklogService } from '../slots/backlog.service';
import type { SlotsService } from '../slots/slots.service';
import type { AttemptsService } from './attempts.service';
import { DispatchService } from './dispatch.service';
import type { WaitingRowsRepository } from '../rows/waiting-rows.repository';
import type { ClaimsRepository } from '../rows/claims.repository';
import type { OutcomesService } from './outcomes.service';

const KEY = { webhookId: 'w', userId: 'u' };
const CLAIMED = { ...KEY, id: 'd', trigger: 'event', dueInMs: 0, webhook: null } as ClaimedDelivery;

describe('A delivery of a queue job', () => {
  function dispatcher(acquired: boolean | Promise<boolean>, claim: () => Promise<ClaimedDelivery | null>) {
    const make = jest.fn().mockResolvedValue(null);
    const [release, releaseLeases, defer] = [jest.fn(), jest.fn(), jest.fn()];
    const service = new DispatchService(
      { acquire: () => acquired, release } as Partial<SlotsService> as SlotsService,
      { defer } as Partial<DeferralService> as DeferralService,
      {} as BacklogService,
      { claim } as Partial<ClaimsRepository> as ClaimsRepository,
      { releaseLeases } as Partial<WaitingRowsRepository> as WaitingRowsRepository,
      { make } as Partial<AttemptsService> as AttemptsService,
      {} as OutcomesService,
    );
    return { service, make, release, releaseLeases, defer };
  }

  it.each([
    ['at once', true],
    ['after waiting in the in-memory queue', Promise.resolve(true)],
  ])('is claimed when it has a slot, %s, and is attempted as read', async (_, acquired) => {
    const { service, make, release } = dispatcher(acquired, async () => CLAIMED);
    await service.attemptQueued('d', KEY);
    expect(make).toHaveBeenCalledWith(CLAIMED);
    expect(release).not.toHaveBeenCalled();
  });

  it('releases its slot, and its lease to the sweeper, when it cannot be claimed', async () => {
    const { service, make, release, releaseLeases } = dispatcher(true, async () => null);
    await service.attemptQueued('d', KEY);
    expect(release).toHaveBeenCalledWith(KEY, null);
    expect(releaseLeases).toHaveBeenCalledWith(['d']);
    expect(make).not.toHaveBeenCalled();
  });

  it('releases its slot when PostgreSQL is unavailable', async () => {
    const { service, release } = dispatcher(true, () => Promise.reject(new Error('away')));
    await expect(service.attemptQueued('d', KEY)).rejects.toThrow('away');
    expect(release).toHaveBeenCalledWith(KEY, null);
  });

  it('waits until it is due if its job starts slightly early', async () => {
    const { service, make } = dispatcher(true, async () => ({ ...CLAIMED, dueInMs: 20 }));
    const before = performance.now();
    await service.attemptQueued('d', KEY);
    expect(performance.now() - before).toBeGreaterThanOrEqual(19);
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('is deferred and not claimed when there is no slot', async () => {
    const claim = jest.fn();
    const { service, defer } = dispatcher(Promise.resolve(false), claim);
    await service.attemptQueued('d', KEY);
    expect(defer).toHaveBeenCalledWith('d', KEY);
    expect(claim).not.toHaveBeenCalled();
  });
});
