import { secretProblem } from 'webhook-notification/cli';
import type { CsvRecord } from './csv-records';
import { type EventNames, eventsOf, eventsProblem } from './event-names';
import { descriptionOf, EXTERNAL_ID, type Found, labelsOf, rateOf } from './wanted-webhook';

const REQUIRED = ['externalId', 'url', 'events'];
const OPTIONAL = ['secret', 'description', 'maxPerSecond', 'disabled'];
const [METADATA, HEADER] = ['metadata.', 'header.'];

/**
 * Returns the webhooks of a CSV file whose first record names its columns: docs/coming-over.md lists them.
 * @throws Error for columns that are missing, unknown or there twice
 */
export function foundInCsv([columns, ...records]: readonly CsvRecord[], eventNames: EventNames): Found[] {
  const names = columns?.fields.map((name) => name.trim()) ?? [];
  requireColumns(names);
  const seen = new Set<string>();
  return records.map(({ line, fields }): Found => {
    const name = `line ${line}`;
    if (fields.length !== names.length)
      return { kind: 'refused', name, reason: `it has ${fields.length} fields, and the first line ${names.length}` };
    const values = new Map(names.map((column, i) => [column, fields[i] ?? '']));
    const found = foundRecord(name, values, eventNames);
    if (found.kind !== 'webhook') return found;
    const { externalId } = found.webhook;
    if (seen.has(externalId))
      return { kind: 'refused', name, reason: `an earlier line has the externalId ${externalId}` };
    seen.add(externalId);
    return found;
  });
}

function requireColumns(names: readonly string[]): void {
  const missing = REQUIRED.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`The first line must name the columns: ${missing.join(', ')} is missing.`);
  const isKnown = (name: string) =>
    [...REQUIRED, ...OPTIONAL].includes(name) ||
    [METADATA, HEADER].some((prefix) => name.startsWith(prefix) && name.length > prefix.length);
  const wrong = names.find((name, i) => !isKnown(name) || names.indexOf(name) < i);
  if (wrong !== undefined)
    throw new Error(`The first line names the column ${wrong}, which is unknown or there twice.`);
}

function foundRecord(name: string, values: ReadonlyMap<string, string>, eventNames: EventNames): Found {
  const refused = (reason: string): Found => ({ kind: 'refused', name, reason });
  const valueOf = (column: string) => values.get(column)?.trim() ?? '';
  const [externalId, url, disabled, rate] = ['externalId', 'url', 'disabled', 'maxPerSecond'].map(valueOf) as string4;
  if (!EXTERNAL_ID.test(externalId))
    return refused('externalId must have 1 to 128 letters, digits, . _ : or -, and begin with a letter or digit');
  if (!['', 'true', 'false'].includes(disabled)) return refused('disabled must be true, false or empty');
  if (rate !== '' && !(Number(rate) > 0)) return refused('maxPerSecond must be a number above 0, or empty');
  const events = eventsOf(valueOf('events').split(/[\s,;]+/), eventNames);
  const problem = eventsProblem(events);
  if (problem !== null) return refused(problem);
  const secret = values.get('secret') || undefined;
  const secretIs = secret === undefined ? null : secretProblem(secret);
  if (secretIs !== null) return refused(`its secret ${secretIs}`);
  const { description, notes: descriptionNotes } = descriptionOf(values.get('description') ?? '');
  const { metadata, notes: labelNotes } = labelsOf(entriesOf(values, METADATA));
  const { maxPerSecond, notes: rateNotes } = rateOf(rate === '' ? null : Number(rate));
  const hasHeaders = [...values.keys()].some((column) => column.startsWith(HEADER));
  return {
    kind: 'webhook',
    webhook: {
      ...{ externalId, url, events, secret, description, metadata, maxPerSecond },
      headers: hasHeaders ? Object.fromEntries(entriesOf(values, HEADER)) : undefined,
      hiddenHeaders: [],
      isDisabled: disabled === 'true',
      obstacles: [],
      notes: [...descriptionNotes, ...labelNotes, ...rateNotes],
    },
  };
}

type string4 = [string, string, string, string];

/** Returns the columns with a prefix, by the rest of their names; empty fields are left out. */
const entriesOf = (values: ReadonlyMap<string, string>, prefix: string): [string, string][] =>
  [...values]
    .filter(([column, value]) => column.startsWith(prefix) && value !== '')
    .map(([column, value]) => [column.slice(prefix.length), value]);
