import type { LucideIcon } from 'lucide-preact';

/** A picture beside a word: it says nothing of its own. */
export const Icon = ({ of: Of, size = 16 }: { of: LucideIcon; size?: number }) => (
  <Of class="icon" size={size} strokeWidth={1.75} aria-hidden="true" />
);
