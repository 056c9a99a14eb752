// Two ways to generate load.
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { now } from './processes/remote.mjs';

/** Closed loop: a fixed number of concurrent calls; the next begins when one ends. Measures maximum throughput. */
export async function closedLoop(count, concurrency, send) {
  const results = new Array(count);
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < count; i = next++) results[i] = await send(i);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, worker));
  return results;
}

/**
 * Open loop: calls begin when they are due, whether or not earlier ones have ended. Measures latency: `send` gets the
 * time at which it should have begun, so that time lost before the call counts too.
 */
export async function openLoop(count, ratePerSecond, send) {
  const startAt = now();
  const failures = [];
  const calls = [];
  for (let i = 0; i < count; i++) {
    const intendedAt = startAt + (i * 1000) / ratePerSecond;
    const early = intendedAt - now();
    await (early > 0 ? pause(early) : turn());
    calls.push(send(i, intendedAt).catch((error) => failures.push(error)));
  }
  const results = await Promise.all(calls);
  if (failures.length > 0) throw failures[0];
  return results;
}
