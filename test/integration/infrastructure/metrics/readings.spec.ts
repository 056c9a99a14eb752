import { MetricsService } from '../../../../src/infrastructure/metrics/metrics.service';

describe('A gauge that is read when it is scraped', () => {
  const samples = [{ labels: { kind: 'a' }, value: 7 }];
  const VALUE = 'read_rows{kind="a"} 7';

  function scraperOf(read: () => Promise<typeof samples>): () => Promise<string> {
    const metrics = new MetricsService();
    metrics.counter('counted_total', 'What needs no store.').inc();
    metrics.gauge('read_rows', 'What is read from a store.', ['kind'], read);
    return () => metrics.text();
  }

  it('is read once for all scrapes within five seconds', async () => {
    let reads = 0;
    const scrape = scraperOf(async () => {
      reads += 1;
      return samples;
    });
    const texts = [...(await Promise.all([scrape(), scrape(), scrape()])), await scrape()];
    for (const text of texts) expect(text).toContain(VALUE);
    expect(reads).toBe(1);
  });

  it.each<[string, () => Promise<typeof samples>]>([
    ['rejects', () => Promise.reject(new Error('the store is away'))],
    [
      'throws',
      () => {
        throw new Error('the store is away');
      },
    ],
  ])('is omitted when reading %s, and all other metrics are returned', async (_, read) => {
    const text = await scraperOf(read)();
    expect(text).toContain('counted_total 1');
    expect(text).not.toContain('read_rows{');
    expect(text).not.toMatch(/^read_rows /m);
  });

  it('delays a scrape by at most three seconds, and is not read again in the meantime', async () => {
    let reads = 0;
    let answer: (read: typeof samples) => void = () => undefined;
    const scrape = scraperOf(() => {
      reads += 1;
      return new Promise((resolve) => (answer = resolve));
    });
    const begunAt = performance.now();
    expect(await scrape()).not.toContain('read_rows{');
    const tookMs = performance.now() - begunAt;
    expect(tookMs).toBeGreaterThan(2900);
    // eslint-disable-next-line no-restricted-syntax -- ten times the promise
    expect(tookMs).toBeLessThan(30_000);
    const again = performance.now();
    expect(await scrape()).toContain('counted_total 1');
    // eslint-disable-next-line no-restricted-syntax -- it does not wait for three seconds once more
    expect(performance.now() - again).toBeLessThan(2900);
    expect(reads).toBe(1);
    answer(samples);
    expect(await scrape()).toContain(VALUE);
  });
});
