import { Semaphore } from './semaphore';

it('A semaphore grants all permits, then serves waiting callers in order', async () => {
  const permits = new Semaphore(2);
  const order: string[] = [];
  const taken = ['a', 'b', 'c', 'd'].map(async (name) => {
    await permits.acquire();
    order.push(name);
  });
  await Promise.all(taken.slice(0, 2));
  await new Promise(setImmediate);
  expect(order).toEqual(['a', 'b']);
  permits.release();
  await taken[2];
  expect(order).toEqual(['a', 'b', 'c']);
  permits.release();
  permits.release();
  await taken[3];
  permits.release();
  permits.release();
  await Promise.all([permits.acquire(), permits.acquire()]);
});
