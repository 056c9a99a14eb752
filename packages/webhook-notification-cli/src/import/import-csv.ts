import { readFile } from 'node:fs/promises';
import type { Command } from '../command-line';
import { SERVICE_HELP } from '../service-connection';
import { parseCsv } from './csv-records';
import { foundInCsv } from './csv-webhooks';
import { eventNamesOf, IMPORT_HELP, IMPORT_OPTIONS, IMPORT_USAGE, importer } from './import-command';

/** Imports the webhooks of a CSV file. */
export const importCsv: Command = {
  name: 'import csv',
  usage: `<file> ${IMPORT_USAGE}`,
  help: `Imports the webhooks of a CSV file for the user of WEBHOOKS_TOKEN. Its first line names the columns: externalId, url and events
(separated by spaces), and as you need them secret, description, maxPerSecond, disabled (true or false), metadata.<name> and
header.<name>. Keep the file secret if it has secrets.
${IMPORT_HELP}
${SERVICE_HELP}`,
  operand: 'file',
  options: IMPORT_OPTIONS,
  async run(line) {
    const importAll = importer(line);
    const bytes = await readFile(line.operand);
    const found = foundInCsv(parseCsv(textOf(bytes)), await eventNamesOf(line));
    return importAll({
      async *entries() {
        yield await Promise.resolve(found.map((each) => () => Promise.resolve(each)));
      },
    });
  },
};

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('The file is not UTF-8.');
  }
}
