/** How many of the attempts arrived. Not 100 % as long as one did not; null when none was made. */
export function shareOf({ succeeded, failed }: { succeeded: number; failed: number }): number | null {
  const made = succeeded + failed;
  return made === 0 ? null : Math.floor((10_000 * succeeded) / made) / 100;
}

/** Such as `98.7`, `99.98` or `100`: two places only where one would round up to 100. */
export const shareText = (share: number): string => String(share > 99.9 ? share : Math.floor(share * 10) / 10);

/** Such as `412 ms` or `1.2 s`; a dash when there is none. */
export const msText = (ms: number | null): string =>
  ms === null ? '–' : ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;

/** Such as `1,204`; `10,000+` when there may be more. */
export const countText = (count: number, hasMore = false): string =>
  `${count.toLocaleString('en')}${hasMore ? '+' : ''}`;
