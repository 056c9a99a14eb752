#!/usr/bin/env node
import { CommandLine, helpOf, Misunderstood } from './command-line';
import { completionOf } from './completion';
import { importCsv } from './import/import-csv';
import { importSvix } from './import/import-svix';
import { listen } from './listen';
import { outboxCommands } from './outbox-commands';
import { printable } from './printable';
import { redeliver } from './redeliver';
import { tail } from './tail';
import { trigger } from './trigger';

const others = [listen, trigger, tail, redeliver, importSvix, importCsv, ...outboxCommands];
const commands = [...others, completionOf(others)];

const USAGE = `Usage: ${commands.map(({ name, usage }) => `webhook-notification ${name} ${usage}`).join('\n       ')}

webhook-notification <command> --help explains a command.
Exit code: 1 when the command failed or an operator must act, 2 when the command line is wrong.`;

async function run(args: readonly string[]): Promise<number> {
  const command = commands.find(({ name }) => name.split(' ').every((word, i) => args[i] === word));
  const isHelp = args.includes('--help') || args.includes('-h');
  if (isHelp) process.stdout.write(command ? helpOf(command) : `${USAGE}\n`);
  if (isHelp) return 0;
  if (!command)
    throw new Misunderstood(args.length > 0 ? `Unknown command: ${args.join(' ').slice(0, 100)}.\n${USAGE}` : USAGE);
  return command.run(CommandLine.parse(command, args.slice(command.name.split(' ').length), process.env));
}

/** What Node.js says of an answer without a field, or with one of another type. */
const UNREADABLE = /^Cannot (read|convert|destructure|use) |is not (iterable|a function)$/;

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof TypeError) || !UNREADABLE.test(message)) return message;
  return `The answer is not one that this command understands: check the address, and that the service is not older. (${message})`;
}

/** Messages of the service may contain what others have written. */
const shown = (message: string): string => message.split('\n').map(printable).join('\n');

// The reader, such as `head`, has ended. A command that listens itself still has to clean up.
for (const output of [process.stdout, process.stderr])
  output.on('error', () => output.listenerCount('error') === 1 && process.exit());

run(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${shown(messageOf(error))}\n`);
    process.exitCode = error instanceof Misunderstood ? 2 : 1;
  },
);
