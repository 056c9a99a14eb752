import { Permits } from './semaphore';

it('Permits are given to as many as there are, and then in order', async () => {
  const permits = new Permits(2);
  const order: string[] = [];
  const taken = ['a', 'b', 'c', 'd'].map(async (name) => {
    await permits.take();
    order.push(name);
  });
  await Promise.all(taken.slice(0, 2));
  await new Promise(setImmediate);
  expect(order).toEqual(['a', 'b']);
  permits.give();
  await taken[2];
  expect(order).toEqual(['a', 'b', 'c']);
  permits.give();
  permits.give();
  await taken[3];
  permits.give();
  permits.give();
  await Promise.all([permits.take(), permits.take()]);
});
