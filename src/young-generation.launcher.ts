import { setFlagsFromString } from 'node:v8';

/**
 * Loaded before everything else. Most of what is allocated while modules load stays for good, and V8 would let its young
 * generation grow to 32 MiB for it, which an idle process never gives back.
 */
setFlagsFromString('--semi-space-growth-factor=1');

/**
 * V8 pretenures: it allocates objects directly in the old generation where earlier ones from the same code survived. After a
 * burst it does so for nearly everything a request allocates, and then collects the whole heap every few seconds.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

/** To be called when the service has started: under load a small young generation would cost throughput. */
export function letYoungGenerationGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}
