import { Turns } from './turns';

describe('Turns', () => {
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  async function enter(turns: Turns, key: string, log: string[], name: string): Promise<() => void> {
    const end = await turns.take(key);
    log.push(name);
    return end;
  }

  it('let so many of a key go on at once, and the next in the order of coming', async () => {
    const [turns, log]: [Turns, string[]] = [new Turns(2), []];
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

  it('of one key do not wait for another', async () => {
    const [turns, log]: [Turns, string[]] = [new Turns(1), []];
    await enter(turns, 'a', log, 'a');
    await enter(turns, 'b', log, 'b');
    expect(log).toEqual(['a', 'b']);
  });

  it('end once, however often it is said', async () => {
    const [turns, log]: [Turns, string[]] = [new Turns(1), []];
    const end = await enter(turns, 'a', log, '1');
    end();
    end();
    await enter(turns, 'a', log, '2');
    void enter(turns, 'a', log, '3');
    await settled();
    expect(log).toEqual(['1', '2']);
  });
});
