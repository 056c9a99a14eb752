import type { Principal } from '../access-token';
import { RecentPrincipals } from './authentication.service';

const ALICE: Principal = { tokenId: '1', userId: 'alice', scopes: [], expiresAt: null };

describe('Principals', () => {
  function setUp() {
    const clock = { now: 0 };
    const recent = new RecentPrincipals(() => clock.now);
    const present = (key: string) => {
      const found = recent.find(key);
      if (!found) recent.lookingUp()(key, ALICE);
      return found;
    };
    return { clock, recent, present };
  }

  it('are looked up five times within 100 ms, then cached until the window ends', () => {
    const { clock, present } = setUp();
    const answers = Array.from({ length: 8 }, () => present('a'));
    expect(answers).toEqual([null, null, null, null, null, ALICE, ALICE, ALICE]);
    expect(present('b')).toBeNull();
    clock.now = 99;
    expect(present('a')).toBe(ALICE);
    clock.now = 100;
    expect(present('a')).toBeNull();
  });

  it('are looked up again after a token was revoked', () => {
    const { recent, present } = setUp();
    for (let i = 0; i < 6; i++) present('a');
    recent.forget();
    expect(present('a')).toBeNull();
  });

  it('that were looked up before a token was revoked are not cached', () => {
    const { recent } = setUp();
    for (let i = 0; i < 10; i++) {
      recent.find('a');
      const found = recent.lookingUp();
      recent.forget();
      found('a', ALICE);
    }
    expect(recent.find('a')).toBeNull();
  });
});
