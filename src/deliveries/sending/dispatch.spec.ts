import type { DueDelivery } from '../attempt';
import type { Offer } from '../lease';
import type { ParkingService } from '../slots/parking.service';
import type { SlotsService } from '../slots/slots.service';
import type { AttemptsService } from './attempts.service';
import { DispatchService } from './dispatch.service';
import type { LeasesService } from './leases.service';

const DELIVERY = { id: 'd', webhookId: 'w', userId: 'u', trigger: 'event', dueInMs: 0 } as DueDelivery;
const OFFER: Offer = { deliveryId: 'd', leasedUntilMs: 0, ownsDeliveryId: false };

describe('A delivery that a job offers', () => {
  function dispatcher(acquired: boolean | Promise<boolean>, ...loaded: (Partial<DueDelivery> | null | Error)[]) {
    const make = jest.fn().mockResolvedValue(null);
    const [release, releaseLease, park, acquireAnyway] = [jest.fn(), jest.fn(), jest.fn(), jest.fn()];
    const loadOffered = jest.fn(async () => {
      const next = loaded.shift();
      if (next instanceof Error) throw next;
      return next ? { ...DELIVERY, ...next } : null;
    });
    const service = new DispatchService(
      { loadOffered, release: releaseLease } as Partial<LeasesService> as LeasesService,
      { acquire: () => acquired, acquireAnyway, release } as Partial<SlotsService> as SlotsService,
      { park } as Partial<ParkingService> as ParkingService,
      { make } as Partial<AttemptsService> as AttemptsService,
    );
    return { service, make, release, releaseLease, park, acquireAnyway, loadOffered };
  }

  it('is attempted as it was read when there is a slot', async () => {
    const { service, make, loadOffered } = dispatcher(true, {});
    await service.attemptOffered(OFFER);
    expect(make).toHaveBeenCalledWith(DELIVERY, expect.any(Function));
    expect(loadOffered).toHaveBeenCalledTimes(1);
  });

  it('is not touched when it is settled, or leased elsewhere', async () => {
    const { service, make, park } = dispatcher(true, null);
    await service.attemptOffered(OFFER);
    expect([make.mock.calls, park.mock.calls]).toEqual([[], []]);
  });

  it('is released to the sweeper when its job comes much too early', async () => {
    const { service, make, releaseLease } = dispatcher(true, { dueInMs: 1001 });
    await service.attemptOffered(OFFER);
    expect(releaseLease).toHaveBeenCalledWith('d');
    expect(make).not.toHaveBeenCalled();
  });

  it('is read again when it is due, if its job comes a little early', async () => {
    const { service, make } = dispatcher(true, { dueInMs: 1 }, { event: 'changed' });
    await service.attemptOffered(OFFER);
    expect(make).toHaveBeenCalledWith({ ...DELIVERY, event: 'changed' }, expect.any(Function));
  });

  it('does not wait for a slot when it is a test', async () => {
    const { service, make, acquireAnyway } = dispatcher(false, { trigger: 'test' });
    await service.attemptOffered(OFFER);
    expect(acquireAnyway).toHaveBeenCalledTimes(1);
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('is read again after it has waited for a slot', async () => {
    const { service, make } = dispatcher(Promise.resolve(true), {}, { event: 'changed' });
    await service.attemptOffered(OFFER);
    expect(make).toHaveBeenCalledWith({ ...DELIVERY, event: 'changed' }, expect.any(Function));
  });

  it('gives its slot back when another process has attempted it meanwhile, or when it cannot be read', async () => {
    const { service, make, release } = dispatcher(Promise.resolve(true), {}, null, {}, new Error('away'));
    await service.attemptOffered(OFFER);
    expect(release).toHaveBeenCalledTimes(1);
    await expect(service.attemptOffered(OFFER)).rejects.toThrow('away');
    expect(release).toHaveBeenCalledTimes(2);
    expect(make).not.toHaveBeenCalled();
  });

  it('is parked when there is none', async () => {
    const { service, make, park } = dispatcher(Promise.resolve(false), {});
    await service.attemptOffered(OFFER);
    expect(park).toHaveBeenCalledWith(DELIVERY);
    expect(make).not.toHaveBeenCalled();
  });
});
