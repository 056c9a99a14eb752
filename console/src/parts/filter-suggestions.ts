import type { EventType, Webhook } from '../api/types';
import { ERROR_CODES, TEXT } from '../text/en';
import type { FilterName } from './log-filters';
import { plainOf } from './plain';
import { nameOf } from './webhook-name';

export interface Suggestion {
  name: FilterName;
  value: string;
  /** The value as a person reads it. */
  text: string;
}

interface Known {
  types: readonly EventType[];
  webhooks: readonly Webhook[];
}

const MOST = 8;
const ANSWERS = ['2xx', '3xx', '4xx', '5xx', 'none'];
const TRIGGERS = ['event', 'redelivery', 'test'] as const;
/** Prefixes that name a filter, such as `event:`. */
const NAMED: Readonly<Record<string, FilterName>> = {
  webhook: 'webhookId',
  event: 'event',
  subject: 'subject',
  error: 'error',
  answer: 'responseStatus',
  trigger: 'trigger',
  since: 'since',
  until: 'until',
};

/**
 * Returns the filters that a text can mean, the likeliest first: a part of a name, a status code, a time, or one of these after
 * `event:`, `webhook:`, `answer:`, `error:`, `trigger:`, `since:`, `until:`; a text that means none of them is a subject, as after
 * `subject:`. All that there are for an empty text.
 */
export function suggestionsOf(text: string, known: Known): Suggestion[] {
  const [, prefix, rest] = /^(?:([a-z]+):)?\s*(.*)$/is.exec(text.trim()) ?? [];
  const only = prefix === undefined ? undefined : NAMED[prefix.toLowerCase()];
  const wanted = (only ? (rest ?? '') : text.trim()).toLowerCase();
  const fits = ({ name, value, text: shown }: Suggestion): boolean =>
    (only === undefined || name === only) && [value, shown].some((one) => one.toLowerCase().includes(wanted));
  const found = [...timesOf(rest ?? '', only), ...codesOf(wanted, only), ...allOf(known).filter(fits)].slice(0, MOST);
  const value = (only === 'subject' ? (rest ?? '') : text).trim();
  if (found.length > 0 || value === '' || (only ?? 'subject') !== 'subject') return found;
  return [{ name: 'subject', value, text: plainOf(value) }];
}

function allOf({ types, webhooks }: Known): Suggestion[] {
  return [
    ...types.map(({ name }): Suggestion => ({ name: 'event', value: name, text: plainOf(name) })),
    ...webhooks.map((webhook): Suggestion => ({ name: 'webhookId', value: webhook.id, text: nameOf(webhook) })),
    ...ANSWERS.map((value): Suggestion => ({ name: 'responseStatus', value, text: TEXT.log.answers[value] ?? value })),
    ...ERROR_CODES.map((value): Suggestion => ({ name: 'error', value, text: TEXT.errorNames[value] })),
    ...TRIGGERS.map((value): Suggestion => ({ name: 'trigger', value, text: TEXT.triggers[value] })),
  ];
}

const codesOf = (wanted: string, only: FilterName | undefined): Suggestion[] =>
  /^[1-9]\d\d$/.test(wanted) && (only ?? 'responseStatus') === 'responseStatus'
    ? [{ name: 'responseStatus', value: wanted, text: wanted }]
    : [];

function timesOf(text: string, only: FilterName | undefined): Suggestion[] {
  if ((only !== 'since' && only !== 'until') || Number.isNaN(Date.parse(text))) return [];
  const value = new Date(text).toISOString();
  return [{ name: only, value, text: value }];
}
