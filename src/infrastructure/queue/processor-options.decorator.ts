import type { WorkerOptions } from 'bullmq';
import type { Config } from '../config/config';
import { workerOptions } from './queue-connections.client';

type Concurrency = (config: Config) => number;

const pending: { options: Partial<WorkerOptions>; concurrency: Concurrency }[] = [];

/**
 * Returns options for `@Processor(NAME, options)`. A decorator runs before there is a `Config`, but it keeps a
 * reference to this object. `fillProcessorOptions` completes the object before the workers are created.
 * @param concurrency maximum number of concurrent jobs of the worker
 */
export function processorOptions(concurrency: Concurrency): Partial<WorkerOptions> {
  const options: Partial<WorkerOptions> = {};
  pending.push({ options, concurrency });
  return options;
}

export function fillProcessorOptions(config: Config): void {
  for (const { options, concurrency } of pending) Object.assign(options, workerOptions(config, concurrency(config)));
}
