import { setFlagsFromString } from 'node:v8';

/**
 * Imported before everything else. Most memory allocated while modules load is never freed. V8 would let its young
 * generation grow to 32 MiB for it, which an idle process never releases.
 */
setFlagsFromString('--semi-space-growth-factor=1');

/**
 * Disables pretenuring: V8 allocates objects directly in the old generation where earlier ones from the same code survived. After
 * a burst it does so for nearly everything a request allocates, and then collects the whole heap every few seconds.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

/** Lets the young generation grow again. To be called after the start: under load, a small one would cost throughput. */
export function letYoungGenerationGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}
