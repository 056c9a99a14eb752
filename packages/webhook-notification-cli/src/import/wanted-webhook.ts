/** A webhook as another system has it, in the terms of this service. */
export interface WantedWebhook {
  externalId: string;
  url: string;
  /** Sorted, without repeats. */
  events: readonly string[];
  /** Undefined: the service makes one. */
  secret?: string | undefined;
  description: string | null;
  metadata: Readonly<Record<string, string>>;
  /** Undefined: the source says nothing about headers. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Names of headers whose values the other system does not show. */
  hiddenHeaders: readonly string[];
  maxPerSecond: number | null;
  /** Whether the other system does not send to it. */
  isDisabled: boolean;
  /** Properties without a counterpart that change what the receiver gets: a person must check them before activation. */
  obstacles: readonly string[];
  /** Omitted properties that change nothing for the receiver. */
  notes: readonly string[];
}

/** One place of the other system's list. */
export type Found =
  | { kind: 'webhook'; webhook: WantedWebhook }
  /** It cannot become a webhook. `name` is its external id, or its place in a file. */
  | { kind: 'refused'; name: string; reason: string }
  /** It was deleted while the list was read. */
  | { kind: 'deleted'; name: string };

/** Reads one place of the list. */
export type Entry = () => Promise<Found>;

/** Where webhooks come from. */
export interface ImportSource {
  /** Yields the list in parts of any size. */
  entries(): AsyncIterable<readonly Entry[]>;
  /** The beginning of the external ids that only this source gives; undefined: others may be alike. */
  prefix?: string;
}

/** An external id as the service takes it. */
export const EXTERNAL_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

const LABEL_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;
const LABEL_VALUE = /^[^\p{Cs}\0]{0,200}$/u;
const MAX_LABELS = 20;

/** Returns the labels that fit the rules of the service for `metadata`, the first 20 of them, and notes on the others. */
export function labelsOf(all: readonly (readonly [string, string])[]): {
  metadata: Record<string, string>;
  notes: string[];
} {
  const fits = ([name, value]: readonly [string, string]) => LABEL_NAME.test(name) && LABEL_VALUE.test(value);
  const fitting = all.filter(fits);
  const left = [...all.filter((label) => !fits(label)), ...fitting.slice(MAX_LABELS)];
  return {
    metadata: Object.fromEntries(fitting.slice(0, MAX_LABELS)),
    notes: left.map(([name]) => `the label ${name} does not fit metadata, and is left out`),
  };
}

const MAX_DESCRIPTION = 256;

/** Returns a description that the service takes: at most 256 characters without NUL and halves of pairs. */
export function descriptionOf(text: string): { description: string | null; notes: string[] } {
  const clean = text.replaceAll(/[\p{Cs}\0]/gu, '');
  const characters = [...clean];
  if (characters.length <= MAX_DESCRIPTION) return { description: clean || null, notes: [] };
  const notes = [`the description is cut to ${MAX_DESCRIPTION} characters`];
  return { description: characters.slice(0, MAX_DESCRIPTION).join(''), notes };
}

const MAX_PER_SECOND = 1000;

/** Returns the rate of attempts a second that the service takes; null: no limit. */
export function rateOf(perSecond: number | null): { maxPerSecond: number | null; notes: string[] } {
  if (perSecond === null || perSecond <= 0) return { maxPerSecond: null, notes: [] };
  if (perSecond <= MAX_PER_SECOND) return { maxPerSecond: perSecond, notes: [] };
  return { maxPerSecond: MAX_PER_SECOND, notes: [`the rate ${perSecond} a second becomes ${MAX_PER_SECOND}`] };
}
