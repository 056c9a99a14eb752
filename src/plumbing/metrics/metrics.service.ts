import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { BoundedReading, type Sample } from './bounded-reading.service';

/**
 * Where rooms say what they measure. Labels have few values, known beforehand: never one per webhook, user or event.
 * Counting costs an addition; what a gauge reads is read only when it is scraped.
 */
@Injectable()
export class MetricsService {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  private readonly registry = new Registry();

  counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: [this.registry] });
  }

  /** Its series stand at 0 from the beginning: Prometheus sees the first increase only of a series that it knows. */
  counterBy<Label extends string>(name: string, help: string, label: Label, values: readonly string[]): Counter<Label> {
    const counter = new Counter({ name, help, labelNames: [label], registers: [this.registry] });
    for (const value of values) counter.inc({ [label]: value } as Record<Label, string>, 0);
    return counter;
  }

  /** A counter that its room keeps by itself, by the values of its label. */
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

  histogram(name: string, help: string, buckets: readonly number[]): Histogram {
    return new Histogram({ name, help, buckets: [...buckets], registers: [this.registry] });
  }

  /** A number that its room keeps up to date. */
  level(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.registry] });
  }

  /**
   * A gauge that is read when it is scraped. It needs a label: without one it would stand at 0 when it could not be read,
   * while with labels it is left out.
   */
  gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly [Label, ...Label[]],
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

  /** From now on CPU, memory, garbage collection and the delay of the event loop are measured too. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Everything in Prometheus' text format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}
