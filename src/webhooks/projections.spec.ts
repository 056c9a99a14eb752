import { Logger } from '@nestjs/common';
import { ProjectionsService } from './projections.service';

const line = { sku: 'a', text: 'x'.repeat(50), more: { a: [1, 2, { b: 3 }] } };
const data = JSON.stringify({ lines: new Array(900).fill(line) });
const body = `{"id":"1","event":"a.b","createdAt":"2026","data":${data}}`;
const pathsOf = (webhook: number) => Array.from({ length: 50 }, (_, i) => `lines.more.a.b${webhook}.c${i}`);

describe('The fields of a hundred webhooks', () => {
  it('are selected once for webhooks with the same', async () => {
    const projections = new ProjectionsService();
    const events = Array.from({ length: 100 }, () => ({ eventId: 'e', body, webhook: {} }));
    const all = await Promise.all(events.map((event) => projections.of(event, ['lines.sku'])));
    expect(new Set(all.map((event) => event?.body)).size).toBe(1);
    expect(all[0]?.body.length).toBeLessThan(body.length / 5);
    const untouched = { eventId: 'e', body: 'not read again' };
    expect((await projections.of(untouched, ['lines.sku']))?.body).toBe(all[0]?.body);
    const log = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    expect(await projections.of({ ...untouched, eventId: 'another' }, ['lines.sku'])).toBeNull();
    expect(log.mock.calls).toEqual([[expect.stringContaining('another')]]);
    log.mockRestore();
  });

  it('let other work of the process begin meanwhile', async () => {
    const projections = new ProjectionsService();
    let [turns, isOver] = [0, false];
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(Array.from({ length: 100 }, (_, i) => projections.of({ eventId: 'e', body }, pathsOf(i))));
    isOver = true;
    expect(body.length).toBeGreaterThan(80_000);
    expect(turns).toBeGreaterThan(3);
  });
});
