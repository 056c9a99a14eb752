import type { Scope } from '../../api/types';
import type { TEXT } from '../../text/en';

export type Preset = keyof typeof TEXT.tokens.presets;

const SCOPES: Record<Exclude<Preset, 'all'>, readonly Scope[]> = {
  read: ['webhooks:read', 'deliveries:read'],
  publish: ['events:publish'],
};

/** Returns the usual choices of scopes, as far as these are `held`; a choice without any is left out. */
export function presetsFor(held: readonly Scope[]): readonly (readonly [Preset, readonly Scope[]])[] {
  const of = (preset: 'read' | 'publish') => [preset, SCOPES[preset].filter((scope) => held.includes(scope))] as const;
  return [of('read'), of('publish'), ['all', held] as const].filter(([, scopes]) => scopes.length > 0);
}

const isSame = (a: readonly Scope[], b: readonly Scope[]): boolean =>
  a.length === b.length && a.every((scope) => b.includes(scope));

/** Returns the choice that has exactly these scopes. */
export const presetOf = (scopes: readonly Scope[], held: readonly Scope[]): Preset | undefined =>
  presetsFor(held).find(([, each]) => isSame(each, scopes))?.[0];
