import type { ClaimedDelivery } from '../attempt';
import type { ParkingService } from '../slots/parking.service';
import type { SlotsService } from '../slots/slots.service';
import type { AttemptsService } from './attempts.service';
import { DispatchService } from './dispatch.service';
import type { LeasesService } from './leases.service';

const LANE = { webhookId: 'w', userId: 'u' };
const CLAIMED = { ...LANE, id: 'd', trigger: 'event', dueInMs: 0 } as ClaimedDelivery;

describe('A delivery that a job offers', () => {
  function dispatcher(acquired: boolean | Promise<boolean>, claim: () => Promise<ClaimedDelivery | null>) {
    const make = jest.fn().mockResolvedValue(null);
    const [release, releaseLease, park] = [jest.fn(), jest.fn(), jest.fn()];
    const service = new DispatchService(
      { acquire: () => acquired, release } as Partial<SlotsService> as SlotsService,
      { park } as Partial<ParkingService> as ParkingService,
      { claim, release: releaseLease } as Partial<LeasesService> as LeasesService,
      { make } as Partial<AttemptsService> as AttemptsService,
    );
    return { service, make, release, releaseLease, park };
  }

  it.each([
    ['at once', true],
    ['when its turn in the line has come', Promise.resolve(true)],
  ])('is claimed when it has a slot, %s, and is attempted as it was read', async (_, acquired) => {
    const { service, make, release } = dispatcher(acquired, async () => CLAIMED);
    await service.attemptOffered('d', LANE);
    expect(make).toHaveBeenCalledWith(CLAIMED, expect.any(Function));
    expect(release).not.toHaveBeenCalled();
  });

  it('gives its slot back, and its lease to the sweeper, when it cannot be claimed', async () => {
    const { service, make, release, releaseLease } = dispatcher(true, async () => null);
    await service.attemptOffered('d', LANE);
    expect(release).toHaveBeenCalledWith(LANE, null);
    expect(releaseLease).toHaveBeenCalledWith('d');
    expect(make).not.toHaveBeenCalled();
  });

  it('gives its slot back when PostgreSQL is away', async () => {
    const { service, release } = dispatcher(true, () => Promise.reject(new Error('away')));
    await expect(service.attemptOffered('d', LANE)).rejects.toThrow('away');
    expect(release).toHaveBeenCalledWith(LANE, null);
  });

  it('waits until it is due, if its job comes a little early', async () => {
    const { service, make } = dispatcher(true, async () => ({ ...CLAIMED, dueInMs: 20 }));
    const before = performance.now();
    await service.attemptOffered('d', LANE);
    expect(performance.now() - before).toBeGreaterThanOrEqual(19);
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('is parked and not claimed when there is no slot', async () => {
    const claim = jest.fn();
    const { service, park } = dispatcher(Promise.resolve(false), claim);
    await service.attemptOffered('d', LANE);
    expect(park).toHaveBeenCalledWith('d', LANE);
    expect(claim).not.toHaveBeenCalled();
  });
});
