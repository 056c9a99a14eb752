import { SharedStateService } from './shared-state.service';
import type { StatementsService } from './statements.service';

describe('SharedStateService', () => {
  let states: string[];
  let texts: string[];
  let shared: SharedStateService;
  beforeEach(() => {
    [states, texts] = [['a', 'b'], []];
    const run = async ({ text }: { text: string }) => {
      texts.push(text);
      return [{ states }];
    };
    shared = new SharedStateService({ run } as unknown as StatementsService);
  });

  it('reads all states with one statement, and passes on those that changed', async () => {
    const [first, second] = [jest.fn(), jest.fn()];
    shared.watch('select 1', first);
    shared.watch('select 2', second);
    await shared.refresh();
    states = ['a', 'c'];
    await shared.refresh();
    expect(texts).toEqual([1, 2].map(() => 'select array[(select 1), (select 2)]::text[] as states'));
    expect(first.mock.calls).toEqual([['a']]);
    expect(second.mock.calls).toEqual([['b'], ['c']]);
  });

  it('passes a state on again after a watcher has thrown, and to the other watchers', async () => {
    const failing = jest.fn().mockRejectedValueOnce(new Error('away'));
    const other = jest.fn();
    shared.watch('select 1', failing);
    shared.watch('select 2', other);
    // One caller's batch is not repeated.
    await expect(shared.refresh()).rejects.toThrow('away');
    await shared.refresh();
    expect(failing.mock.calls).toEqual([['a'], ['a']]);
    expect(other.mock.calls).toEqual([['b']]);
  });
});
