import fc from 'fast-check';
import { v7, validate, version } from 'uuid';
import { timeOfId } from '../../infrastructure/database/id-time';
import { firstDeliveryId } from './first-delivery-id';

const EVENT = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';
const WEBHOOK = '0199c3a4-0000-7000-8000-000000000001';

const instants = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true });
const ids = fc
  .tuple(instants, fc.uint8Array({ minLength: 16, maxLength: 16 }))
  .map(([at, random]) => v7({ msecs: at.getTime(), random }));

describe('The id of a first delivery', () => {
  it('is pinned: another id would duplicate deliveries that were fanned out before an upgrade', () => {
    expect(firstDeliveryId(EVENT, WEBHOOK)).toBe('0199c3a4-6f6e-72ce-9624-d55bcf592c78');
  });

  it('is a UUIDv7 with the time of its event, and the same each time', () => {
    fc.assert(
      fc.property(ids, ids, (event, webhook) => {
        const id = firstDeliveryId(event, webhook);
        expect([validate(id), version(id), id]).toEqual([true, 7, id.toLowerCase()]);
        expect(timeOfId(id)).toEqual(timeOfId(event));
        expect(firstDeliveryId(event, webhook)).toBe(id);
      }),
    );
  });

  it('differs for every event and webhook', () => {
    fc.assert(
      fc.property(fc.uniqueArray(ids, { maxLength: 8 }), fc.uniqueArray(ids, { maxLength: 8 }), (events, webhooks) => {
        const made = events.flatMap((event) => webhooks.map((webhook) => firstDeliveryId(event, webhook)));
        expect(new Set([...made, ...events]).size).toBe(made.length + events.length);
      }),
    );
  });

  it('differs for 1,000 webhooks of one event', () => {
    const made = Array.from({ length: 1000 }, (_, i) => firstDeliveryId(EVENT, WEBHOOK.replace(/1$/, String(i))));
    expect(new Set(made).size).toBe(1000);
  });
});
