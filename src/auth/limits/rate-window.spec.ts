import { RateWindow } from './rate-limits.service';

describe('A window with a limit of 3 per minute', () => {
  it('accepts 3, and returns how long the others must wait', () => {
    const window = new RateWindow(3);
    expect([0, 10, 20].map((at) => window.take('alice', at).waitMs)).toEqual([0, 0, 0]);
    expect([20, 1000, 59_999].map((at) => window.take('alice', at).waitMs)).toEqual([59_980, 59_000, 1]);
    expect(window.take('alice', 60_000).waitMs).toBe(0);
  });

  it('returns what is left of the quota and the minute', () => {
    const window = new RateWindow(3);
    expect([0, 10, 20, 30].map((at) => window.take('alice', at, 1))).toEqual([
      { waitMs: 0, remaining: 2, endsInMs: 60_000 },
      { waitMs: 0, remaining: 1, endsInMs: 59_990 },
      { waitMs: 0, remaining: 0, endsInMs: 59_980 },
      { waitMs: 59_970, remaining: 0, endsInMs: 59_970 },
    ]);
    expect(window.take('bob', 0, 100)).toMatchObject({ waitMs: 0, remaining: 0 });
  });

  it('counts each key separately', () => {
    const window = new RateWindow(3);
    for (let i = 0; i < 9; i++) window.take('alice', 0);
    expect(window.take('bob', 0).waitMs).toBe(0);
  });

  it('counts a request by its weight', () => {
    const window = new RateWindow(3);
    expect(window.take('alice', 0, 2).waitMs).toBe(0);
    expect(window.take('alice', 0, 2).waitMs).toBe(60_000);
    expect(window.take('alice', 0, 1).waitMs).toBe(0);
    expect(window.take('alice', 0, 1).waitMs).toBe(60_000);
  });

  it('accepts a weight above the limit as the only one of its minute', () => {
    const window = new RateWindow(3);
    expect(window.take('alice', 0, 100).waitMs).toBe(0);
    expect(window.take('alice', 59_999, 1).waitMs).toBe(1);
    window.take('bob', 0, 1);
    expect(window.take('bob', 0, 100).waitMs).toBe(60_000);
  });

  it('treats an earlier count as part of the weight', () => {
    const window = new RateWindow(3);
    window.take('alice', 0, 1);
    expect(window.take('alice', 0, 3, 1)).toMatchObject({ waitMs: 0, remaining: 0 });
    window.take('bob', 0, 1);
    expect(window.take('bob', 0, 100, 1).waitMs).toBe(0);
    window.take('carol', 0, 2);
    expect(window.take('carol', 0, 100, 1).waitMs).toBe(60_000);
    window.take('dave', 0, 1);
    expect(window.take('dave', 60_000, 2, 1)).toMatchObject({ waitMs: 0, remaining: 1 });
  });

  it('drops minutes that have ended', () => {
    const window = new RateWindow(3);
    for (let i = 0; i < 100; i++) window.take(`user ${i}`, i);
    window.take('another', 60_049);
    expect(window.size).toBe(51);
  });

  it('keeps at most maxKeys keys, and drops the oldest first', () => {
    const window = new RateWindow(1, 10);
    for (let i = 0; i < 1000; i++) window.take(`address ${i}`, 0);
    expect(window.size).toBe(10);
    expect(window.take('address 999', 1).waitMs).toBeGreaterThan(0);
    expect(window.take('address 0', 1).waitMs).toBe(0);
  });
});
