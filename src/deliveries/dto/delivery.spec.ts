import type { Delivery } from '../rows/delivery.entity';
import { DeliveryDto } from './delivery.dto';

const AHEAD = new Date(Date.now() + 60_000);
const PAST = new Date(Date.now() - 60_000);
const PENDING = { status: 'pending', scheduledAt: PAST, parked: false, claimed: false, hasRate: false } as const;

describe('waitsFor', () => {
  it.each<[string, Partial<Delivery>, string | null]>([
    ['its retry is due later', { scheduledAt: AHEAD }, 'backoff'],
    ['it is deferred', { parked: true }, 'slot'],
    ['it is deferred until its rate permits it', { parked: true, hasRate: true }, 'rate'],
    ['the egress proxy failed', { scheduledAt: AHEAD, errorCode: 'proxy_failed' }, 'proxy'],
    ['it is due, and waits for its turn after the egress proxy failed', { errorCode: 'proxy_failed' }, 'proxy'],
    ['it is deferred after the egress proxy failed', { parked: true, errorCode: 'proxy_failed' }, 'slot'],
    ['it is attempted again after the egress proxy failed', { claimed: true, errorCode: 'proxy_failed' }, null],
    ['it is due', {}, null],
    ['a worker makes its attempt', { claimed: true }, null],
    ['it is final', { status: 'failed' }, null],
  ])('is set when %s', (_, row, waitsFor) => {
    const id = '0198c0de-0000-7000-8000-000000000000';
    expect(DeliveryDto.from({ ...PENDING, id, ...row } as Delivery).waitsFor).toBe(waitsFor);
  });
});
