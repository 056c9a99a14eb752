import { QUEUE_EVENT_KINDS, readQueueEvent } from './queue-event';

const at = new Date('2026-01-15T09:30:00.000Z');
const read = (fields: Record<string, unknown>) => readQueueEvent('1-0', at, fields);

describe('An entry of a stream', () => {
  it.each(QUEUE_EVENT_KINDS)('is read when its kind is %s', (kind) => {
    expect(read({ event: kind, jobId: '7', prev: 'active' })).toEqual({
      id: '1-0',
      at,
      kind,
      jobId: '7',
      name: null,
      result: null,
      failedReason: '',
    });
  });

  it.each([
    { event: 'waiting', jobId: '7' },
    { event: 'progress', jobId: '7', data: '1' },
    { event: 'drained' },
    { event: 'active' },
    { event: 'toString', jobId: '7' },
    {},
  ])('is ignored when it is %j', (fields) => {
    expect(read(fields)).toBeNull();
  });

  it('is ignored when its time is invalid', () => {
    expect(readQueueEvent('9000000000000000000-0', new Date(9e18), { event: 'active', jobId: '7' })).toBeNull();
  });

  it.each<[unknown, unknown]>([
    ['{"rows":1}', { rows: 1 }],
    ['"text"', 'text'],
    ['0', 0],
    ['null', null],
    ['', null],
    ['undefined', null],
    [undefined, null],
    ['{', null],
  ])('that completed with %j has the result %j', (returnvalue, result) => {
    expect(read({ event: 'completed', jobId: '7', returnvalue })).toMatchObject({ result });
  });

  it('that was added has its name', () => {
    expect(read({ event: 'added', jobId: '7', name: 'export' })).toMatchObject({ name: 'export' });
  });

  it('that failed has its reason', () => {
    expect(read({ event: 'failed', jobId: '7', failedReason: 'offline' })).toMatchObject({ failedReason: 'offline' });
  });
});
