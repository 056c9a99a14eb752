import { setImmediate as settled } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface Sample<Label extends string> {
  labels: Record<Label, string>;
  value: number;
}

/** Longer than the 2 s that readiness gives its checks, because readiness is a gauge too. */
const READ_WITHIN_MS = 3000;
const READ_EVERY_MS = 5000;

/**
 * Reads from a store that may be slow or unavailable: at most every five seconds, and never concurrently. A scrape
 * never fails because of it, and waits at most three seconds. A value that could not be read is left out.
 */
class BoundedReading<Label extends string> {
  private latest: Promise<readonly Sample<Label>[]> = Promise.resolve([]);
  private begunAt = -Infinity;
  private reading = false;

  constructor(private readonly read: () => readonly Sample<Label>[] | Promise<readonly Sample<Label>[]>) {}

  /** Returns the latest samples, or none when the store fails or takes longer than three seconds. Never throws. */
  async samples(): Promise<readonly Sample<Label>[]> {
    if (!this.reading && performance.now() - this.begunAt >= READ_EVERY_MS) this.begin();
    const leftMs = Math.max(0, this.begunAt + READ_WITHIN_MS - performance.now());
    if (!this.reading) return this.latest;
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<[]>((resolve) => (timer = setTimeout(() => resolve([]), leftMs)));
    try {
      return await Promise.race([this.latest, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  private begin(): void {
    this.begunAt = performance.now();
    this.reading = true;
    this.latest = this.readSafely();
  }

  private async readSafely(): Promise<readonly Sample<Label>[]> {
    try {
      return await this.read();
    } catch {
      return [];
    } finally {
      this.reading = false;
    }
  }
}

/**
 * Modules register their metrics here. The values of a label are few and known in advance: never one per webhook, user
 * or event. Counting costs one addition; a gauge is read only when it is scraped.
 */
@Injectable()
export class MetricsService {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  private readonly registry = new Registry();
  private readonly looks: (() => void)[] = [];
  private writing: Promise<string> | null = null;

  counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: [this.registry] });
  }

  /** A counter with a series for each value, all at 0: Prometheus misses the first increase of a new series. */
  counterBy<Label extends string>(name: string, help: string, label: Label, values: readonly string[]): Counter<Label> {
    const counter = new Counter({ name, help, labelNames: [label], registers: [this.registry] });
    for (const value of values) counter.inc({ [label]: value } as Record<Label, string>, 0);
    return counter;
  }

  /** A counter that reads `counts`, by the values of its label, when it is scraped. The module updates them. */
  counterFrom<Label extends string>(
    name: string,
    help: string,
    label: Label,
    counts: ReadonlyMap<string, number>,
  ): void {
    new Counter<Label>({
      name,
      help,
      labelNames: [label],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [value, count] of counts) this.inc({ [label]: value } as Record<Label, string>, count);
      },
    });
  }

  /** @param buckets upper bounds, in ascending order and in the unit of the metric */
  histogram(name: string, help: string, buckets: readonly number[]): Histogram {
    return new Histogram({ name, help, buckets: [...buckets], registers: [this.registry] });
  }

  level(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.registry] });
  }

  info(name: string, help: string, labels: Record<string, string>): void {
    new Gauge({ name, help, labelNames: Object.keys(labels), registers: [this.registry] }).set(labels, 1);
  }

  /** A gauge that is read when scraped. A failed read leaves it out; without a label it is 0 then. */
  gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => readonly Sample<Label>[] | Promise<readonly Sample<Label>[]>,
  ): void {
    const reading = new BoundedReading(read);
    new Gauge<Label>({
      name,
      help,
      labelNames,
      registers: [this.registry],
      async collect() {
        const samples = await reading.samples();
        this.reset();
        for (const { labels, value } of samples) this.set(labels, value);
      },
    });
  }

  /** Calls `look` at the beginning of each scrape, before gauges send statements of their own. */
  beforeScrapes(look: () => void): void {
    this.looks.push(look);
  }

  /** Starts measuring CPU, memory, garbage collection and event loop delay too. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Returns all metrics in the Prometheus text format. Scrapes that arrive while it is written share the same text. */
  text(): Promise<string> {
    this.writing ??= this.write().finally(() => (this.writing = null));
    return this.writing;
  }

  private async write(): Promise<string> {
    // By then a statement of this same tick that finds an idle connection holds it.
    await settled();
    for (const look of this.looks) look();
    return this.registry.metrics();
  }
}
