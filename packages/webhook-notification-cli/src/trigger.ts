import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { inexactPartOf } from 'webhook-notification/cli';
import type { Command, CommandLine } from './command-line';
import { printable } from './printable';
import { connect, SERVICE_HELP, SERVICE_OPTIONS } from './service-connection';

/** Publishes an event. */
export const trigger: Command = {
  name: 'trigger',
  usage: '<event> [--data <file>] [--subject <text>] [--user <id>] [--service <url>]',
  help: `Publishes an event, by default to your own webhooks, and prints its id. --data is a file with a JSON object, or - for standard
input; by default the data is the example of the event type. --subject says what the event is about, such as invoice/123.
${SERVICE_HELP}`,
  operand: 'event',
  options: { ...SERVICE_OPTIONS, data: 'string', subject: 'string', user: 'string' },
  async run(line) {
    const event = line.operand;
    const client = connect(line);
    const data = (await dataOf(line)) ?? (await client.eventTypes.read(event)).example;
    const [userId, subject] = [line.option('user'), line.option('subject')];
    const options = { ...(userId !== undefined && { userId }), ...(subject !== undefined && { subject }) };
    const { id } = await client.events.publish({ event, data, ...options });
    process.stdout.write(`${printable(id)}\n`);
    return 0;
  },
};

async function dataOf(line: CommandLine): Promise<object | undefined> {
  const file = line.option('data');
  if (file === undefined) return undefined;
  const json = await (file === '-' ? text(process.stdin) : readFile(file, 'utf8'));
  const data = parsed(json);
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    return line.refuse(`--data must be a file with a JSON object.`);
  const inexact = inexactPartOf(`{"data":${json}}`);
  return inexact ? line.refuse(`${inexact.message}.`) : data;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
