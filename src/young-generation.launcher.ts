import { setFlagsFromString } from 'node:v8';

/**
 * Loaded before everything else. Most of what is allocated while modules load stays for good, and V8 would let its young
 * generation grow to 32 MiB for it, which an idle process never gives back.
 */
setFlagsFromString('--semi-space-growth-factor=1');

/** To be called when the service has started: under load a small young generation would cost throughput. */
export function letYoungGenerationGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2');
}
