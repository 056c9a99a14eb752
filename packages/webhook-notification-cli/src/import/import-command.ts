import { readFile } from 'node:fs/promises';
import type { CommandLine } from '../command-line';
import { printable } from '../printable';
import { connect, SERVICE_OPTIONS } from '../service-connection';
import { type EventNames, parseEventNames } from './event-names';
import { ImportRun } from './import-run';
import type { ImportSource } from './wanted-webhook';

const FORMATS = ['payload', 'standard', 'native', 'cloudevents'] as const;

/** The options of every import. */
export const IMPORT_OPTIONS = {
  ...SERVICE_OPTIONS,
  map: 'string',
  format: 'string',
  activate: 'boolean',
  yes: 'boolean',
} as const;
export const IMPORT_USAGE = '[--map <file>] [--format <format>] [--activate] [--yes] [--service <url>]';
export const IMPORT_HELP = `Without --yes it only prints what it would do, after the service has validated it. New webhooks are inactive; --activate activates them, and those of earlier runs.
A repeated import continues one that was interrupted, and otherwise changes nothing. Active webhooks stay as they are.
--map is a JSON file with new names of event types: {"invoice-paid": "invoice.paid", "legacy": null} (null leaves one out).
--format is the body that receivers get: ${FORMATS.join(', ')}. New webhooks get payload, the data of events alone, as their receivers
expect it; existing ones keep theirs without this option.
Exit code: 1 when a webhook was refused, or when --activate leaves one inactive until you act.`;

/** A limited service may answer 429 for minutes. */
const MAX_RETRIES = 8;

/**
 * Returns a function that imports webhooks as the options of the line say, and returns the exit code.
 * @throws Misunderstood before anything is read, when the line lacks something
 */
export function importer(line: CommandLine): (source: ImportSource) => Promise<number> {
  const client = connect(line, { maxRetries: MAX_RETRIES });
  const options = { activate: line.flag('activate'), apply: line.flag('yes'), format: formatOf(line) };
  const print = (text: string) => void process.stdout.write(`${printable(text)}\n`);
  return (source) => new ImportRun(client, source, options, print).run();
}

/**
 * Returns the new names of `--map`; none without it.
 * @throws Error when the file cannot be read, or has no names
 */
export async function eventNamesOf(line: CommandLine): Promise<EventNames> {
  const file = line.option('map');
  return file === undefined ? new Map() : parseEventNames(await readFile(file, 'utf8'));
}

function formatOf(line: CommandLine): (typeof FORMATS)[number] | undefined {
  const value = line.option('format');
  const format = FORMATS.find((each) => each === value);
  return value === undefined || format ? format : line.refuse(`--format must be one of ${FORMATS.join(', ')}.`);
}
