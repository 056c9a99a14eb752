import fc from 'fast-check';
import { v7 } from 'uuid';
import { lowestIdOf } from './id-time';
import { dayOfPartition, dayPartitions } from './partitions';
import { DAY_MS } from '../config/durations';

const instants = fc.date({ min: new Date('1970-01-03'), max: new Date('9999-12-20'), noInvalidDate: true });
const randoms = fc.uint8Array({ minLength: 16, maxLength: 16 });

describe('The lowest id of a millisecond', () => {
  it('starts like the UUIDv7 of RFC 9562, A.6, for the same instant', () => {
    expect(lowestIdOf(Date.parse('2022-02-22T19:22:22Z'))).toBe('017f22e2-79b0-0000-0000-000000000000');
  });

  it('is below every UUIDv7 of that millisecond and above every earlier one', () => {
    fc.assert(
      fc.property(instants, randoms, (at, random) => {
        const lowest = lowestIdOf(at.getTime());
        expect(v7({ msecs: at.getTime(), random }) > lowest).toBe(true);
        expect(v7({ msecs: at.getTime() - 1, random }) < lowest).toBe(true);
      }),
    );
  });
});

describe('The day partitions', () => {
  it('are named after their UTC days, across the end of a month', () => {
    const partitions = dayPartitions('events', new Date('2024-02-29T23:59:59.999Z'), -1, 2);
    expect(partitions.map(({ name }) => name)).toEqual([
      'events_p20240228',
      'events_p20240229',
      'events_p20240301',
      'events_p20240302',
    ]);
  });

  it('range from the first id of a day to the first id of the next', () => {
    const midnight = Date.parse('2026-01-15T00:00:00Z');
    const range = { from: lowestIdOf(midnight), to: lowestIdOf(midnight + DAY_MS) };
    const today = [{ name: 'deliveries_p20260115', ...range }];
    expect(dayPartitions('deliveries', new Date(midnight), 0, 0)).toEqual(today);
    expect(dayPartitions('deliveries', new Date(midnight + DAY_MS - 1), 0, 0)).toEqual(today);
  });

  it('leave no gap between two days', () => {
    fc.assert(
      fc.property(instants, (now) => {
        const partitions = dayPartitions('events', now, -1, 7);
        expect(partitions).toHaveLength(9);
        expect(partitions.slice(1).map(({ from }) => from)).toEqual(partitions.slice(0, -1).map(({ to }) => to));
      }),
    );
  });

  it('contain every id of their days, and no other', () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: -3 * DAY_MS, max: 9 * DAY_MS }), randoms, (now, laterMs, random) => {
        const at = new Date(now.getTime() + laterMs);
        const id = v7({ msecs: at.getTime(), random });
        const names = dayPartitions('events', now, -1, 7)
          .filter(({ from, to }) => from <= id && id < to)
          .map(({ name }) => name);
        const days = Math.floor(at.getTime() / DAY_MS) - Math.floor(now.getTime() / DAY_MS);
        const day = at.toISOString().slice(0, 10).replaceAll('-', '');
        expect(names).toEqual(days >= -1 && days <= 7 ? [`events_p${day}`] : []);
      }),
    );
  });

  it('are recognized by their names', () => {
    fc.assert(
      fc.property(instants, (now) => {
        for (const day of dayPartitions('deliveries', now, -1, 1)) {
          expect(dayOfPartition('deliveries', day.name)).toEqual(day);
        }
      }),
    );
  });
});
