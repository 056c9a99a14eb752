import { suspicionOf } from './follower-readings.service';

it.each([
  [{ gained: 10_000, lost: 10_000, known: 20_000, staged: 20_000 }, null],
  [{ gained: 10_001, lost: 0, known: 5, staged: 10_006 }, 'gained more than 10000'],
  [{ gained: 0, lost: 10_001, known: 10_002, staged: 1 }, 'lost more than 10000'],
  [{ gained: 10_001, lost: 10_001, known: 20_000, staged: 20_000 }, 'gained more than 10000 and lost more than 10000'],
  [{ gained: 0, lost: 1, known: 1, staged: 0 }, 'lost all'],
  [{ gained: 0, lost: 20_000, known: 20_000, staged: 0 }, 'lost all'],
  [{ gained: 0, lost: 0, known: 0, staged: 0 }, null],
  // All followers were replaced by others: strange, but not a truncated list.
  [{ gained: 3, lost: 3, known: 3, staged: 3 }, null],
])('suspicionOf(%j) is %s', (difference, suspicion) => {
  expect(suspicionOf(difference)).toBe(suspicion);
});
