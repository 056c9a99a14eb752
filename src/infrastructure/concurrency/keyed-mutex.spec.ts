import { KeyedMutex } from './keyed-mutex';

describe('KeyedMutex', () => {
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  async function enter(turns: KeyedMutex, key: string, log: string[], name: string): Promise<() => void> {
    const end = await turns.acquire(key);
    log.push(name);
    return end;
  }

  it('runs up to the limit per key at once, and the others in arrival order', async () => {
    const [turns, log]: [KeyedMutex, string[]] = [new KeyedMutex(2), []];
    const [first, second] = await Promise.all(['1', '2'].map((name) => enter(turns, 'a', log, name)));
    const [third, fourth] = ['3', '4'].map((name) => enter(turns, 'a', log, name));
    await settled();
    expect(log).toEqual(['1', '2']);
    second!();
    (await third)!();
    await fourth;
    expect(log).toEqual(['1', '2', '3', '4']);
    first!();
  });

  it('does not make one key wait for another', async () => {
    const [turns, log]: [KeyedMutex, string[]] = [new KeyedMutex(1), []];
    await enter(turns, 'a', log, 'a');
    await enter(turns, 'b', log, 'b');
    expect(log).toEqual(['a', 'b']);
  });

  it('releases a slot once, even when release is called again', async () => {
    const [turns, log]: [KeyedMutex, string[]] = [new KeyedMutex(1), []];
    const end = await enter(turns, 'a', log, '1');
    end();
    end();
    await enter(turns, 'a', log, '2');
    void enter(turns, 'a', log, '3');
    await settled();
    expect(log).toEqual(['1', '2']);
  });
});
