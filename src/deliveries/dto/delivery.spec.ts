import type { Delivery } from '../delivery.entity';
import { DeliveryDto } from './delivery.dto';

const AHEAD = new Date(Date.now() + 60_000);
const PAST = new Date(Date.now() - 60_000);
const PENDING = { status: 'pending', scheduledAt: PAST, parked: false, claimed: false, hasRate: false } as const;

describe('waitsFor', () => {
  it.each<[string, Partial<Delivery>, string | null]>([
    ['its retry is due later', { scheduledAt: AHEAD }, 'backoff'],
    ['it is deferred', { parked: true }, 'slot'],
    ['it is deferred until its rate permits it', { parked: true, hasRate: true }, 'rate'],
    ['it is due', {}, null],
    ['a worker makes its attempt', { claimed: true }, null],
    ['it is final', { status: 'failed' }, null],
  ])('is set when %s', (_, row, waitsFor) => {
    const id = '0198c0de-0000-7000-8000-000000000000';
    expect(DeliveryDto.from({ ...PENDING, id, ...row } as Delivery).waitsFor).toBe(waitsFor);
  });
});
