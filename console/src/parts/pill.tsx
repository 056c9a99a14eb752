import type { LucideIcon } from 'lucide-preact';
import { Icon } from './icon';

export type Tone = 'good' | 'bad' | 'wait' | 'calm';

/** A state: a word and a picture, never a colour alone. */
export const Pill = ({ tone, icon, children }: { tone: Tone; icon: LucideIcon; children: string }) => (
  <span class={`badge ${tone}`}>
    <Icon of={icon} size={12} />
    {children}
  </span>
);
