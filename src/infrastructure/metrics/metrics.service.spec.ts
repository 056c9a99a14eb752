import { MetricsService } from './metrics.service';

/** Counts how often it is read. */
class Counts extends Map<string, number> {
  reads = 0;
  override [Symbol.iterator]() {
    this.reads += 1;
    return super[Symbol.iterator]();
  }
}

describe('MetricsService', () => {
  it('writes one text for all waiting scrapes, and another one for later scrapes', async () => {
    const metrics = new MetricsService();
    const counts = new Counts([['a', 1]]);
    metrics.counterFrom('things_total', 'Things.', 'kind', counts);
    const texts = await Promise.all(Array.from({ length: 50 }, () => metrics.text()));
    expect([new Set(texts).size, counts.reads]).toEqual([1, 1]);
    counts.set('a', 2);
    expect(await metrics.text()).toContain('things_total{kind="a"} 2');
  });
});
