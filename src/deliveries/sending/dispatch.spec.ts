import type { AttemptSlotsService } from '../slots/slots.service';
import type { AttemptsService } from './attempts.service';
import { DispatchService } from './dispatch.service';
import type { DueDelivery } from '../due-delivery';
import type { ParkingService } from '../slots/parking.service';
import type { SendQueue } from '../send.queue';
import type { WebhookEndingsService } from './auto-disable.service';

const DELIVERY = { id: 'd', webhookId: 'w', userId: 'u', trigger: 'event' } as DueDelivery;

describe('A delivery that is due', () => {
  function dispatcher(entered: boolean | Promise<boolean>) {
    const make = jest.fn().mockResolvedValue(null);
    const leave = jest.fn();
    const park = jest.fn();
    const service = new DispatchService(
      { make } as Partial<AttemptsService> as AttemptsService,
      { enter: () => entered, leave } as Partial<AttemptSlotsService> as AttemptSlotsService,
      { park } as Partial<ParkingService> as ParkingService,
      {} as SendQueue,
      {} as WebhookEndingsService,
    );
    return { service, make, leave, park };
  }

  it('is attempted as it was read when there is a slot', async () => {
    const { service, make } = dispatcher(true);
    const reload = jest.fn();
    await service.dispatch(DELIVERY, reload);
    expect(make).toHaveBeenCalledWith(DELIVERY, expect.any(Function));
    expect(reload).not.toHaveBeenCalled();
  });

  it('is read again after it has waited for a slot', async () => {
    const { service, make } = dispatcher(Promise.resolve(true));
    const current = { ...DELIVERY, event: 'changed' };
    await service.dispatch(DELIVERY, async () => current);
    expect(make).toHaveBeenCalledWith(current, expect.any(Function));
  });

  it('gives its slot back when somebody else has attempted it meanwhile, or when it cannot be read', async () => {
    const { service, make, leave } = dispatcher(Promise.resolve(true));
    await service.dispatch(DELIVERY, async () => null);
    expect(leave).toHaveBeenCalledTimes(1);
    await expect(service.dispatch(DELIVERY, async () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(leave).toHaveBeenCalledTimes(2);
    expect(make).not.toHaveBeenCalled();
  });

  it('is parked when there is none', async () => {
    const { service, make, park } = dispatcher(Promise.resolve(false));
    await service.dispatch(DELIVERY, async () => DELIVERY);
    expect(park).toHaveBeenCalledWith('d', DELIVERY);
    expect(make).not.toHaveBeenCalled();
  });
});
