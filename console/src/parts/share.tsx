import { shareOf, shareText } from './numbers';

/** A share as a bar and a number; a dash when there is none. */
export function Share({ of }: { of: { succeeded: number; failed: number } }) {
  const share = shareOf(of);
  if (share === null) return <span class="muted">–</span>;
  return (
    <span class="share number">
      <svg class="meter" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect class="bad" width={100} height={1} />
        <rect class="good" width={share} height={1} />
      </svg>
      {shareText(share)} %
    </span>
  );
}
