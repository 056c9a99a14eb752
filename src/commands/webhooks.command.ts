import { ALL_SCOPES } from '../auth/access-token';
import { isMisunderstood, refuseArguments } from './command-line';

interface Command {
  name: string;
  /** Its options and operands. */
  usage: string;
  summary: string;
  /** What help says besides. */
  help?: string;
  /** Loads the command with only the modules that it needs, and runs it with its arguments. */
  run: (args: string[]) => Promise<void>;
}

const COMMANDS: readonly Command[] = [
  {
    name: 'start',
    usage: '',
    summary: 'start the service, as npm start does',
    run: async (args) => {
      refuseArguments(args);
      await import('../main.js');
    },
  },
  {
    name: 'token create',
    usage: '--user <user id> --scopes <scope,scope|all> [--name <text>] [--expires <ISO 8601>]',
    summary: 'create an access token and print it',
    help: `Scopes: ${ALL_SCOPES.join(', ')}`,
    run: async (args) => (await import('./token-create.command.js')).createToken(args),
  },
  {
    name: 'console-link',
    usage: '--user <user id> [--scopes <scope,scope>] [--expires-in <seconds>] [--path </console/...>]',
    summary: 'create a link that signs a user in to the console, and print it',
    run: async (args) => (await import('./console-link.command.js')).createConsoleLink(args),
  },
  {
    name: 'verify',
    usage: `[<file>] [--headers <file> --body <file>] [--secret-file <file>]
                       [--tolerance <seconds>] [--computed <signature>]`,
    summary: 'verify the signatures of a saved delivery',
    help: `Reads a saved delivery (a raw HTTP request, or the JSON of a delivery) from the file or from standard input, and verifies
its signatures. The secret comes from WEBHOOK_SECRET or a file. --computed is the signature that your own code computed.
Exit code: 0 genuine, 1 not genuine, 2 invalid input.`,
    run: async (args) => (await import('./verify.command.js')).verifyDelivery(args),
  },
  {
    name: 'rekey',
    usage: '[--force]',
    summary: 'encrypt every stored secret with the first key of SECRETS_KEY',
    help: '--force gives up secrets of a lost key.',
    run: async (args) => (await import('./rekey.command.js')).rekey(args),
  },
  {
    name: 'migrate',
    usage: '',
    summary: 'migrate the database, as every start does',
    run: async (args) => {
      refuseArguments(args);
      await (await import('./migrate.command.js')).migrateStore();
    },
  },
  {
    name: 'openapi',
    usage: '[--check]',
    summary: 'write openapi.json; with --check, fail when it is out of date',
    run: async (args) => (await import('./openapi.command.js')).writeOpenApi(args),
  },
];

const USAGE = `Usage: webhooks <command> [options]

${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(14)}${summary}`).join('\n')}

webhooks <command> --help explains a command.
`;

const helpOf = ({ name, usage, summary, help }: Command): string =>
  `${`Usage: webhooks ${name} ${usage}`.trimEnd()}\n\n${help ?? `${summary[0]?.toUpperCase()}${summary.slice(1)}.`}\n`;

/** Runs the `webhooks` program: finds the command by its first words, and runs it. Exits with code 2 if there is none. */
async function main(words: string[]): Promise<void> {
  const command = COMMANDS.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
  const wantsHelp = words[0] === 'help' || words.some((word) => ['--help', '-h'].includes(word));
  if (wantsHelp) return void process.stdout.write(command ? helpOf(command) : USAGE);
  if (command) return run(command, words.slice(command.name.split(' ').length));
  if (words.length > 0) process.stderr.write(`Unknown command: ${JSON.stringify(words.join(' ').slice(0, 100))}.\n`);
  process.stderr.write(USAGE);
  process.exitCode = 2;
}

async function run(command: Command, args: string[]): Promise<void> {
  try {
    await command.run(args);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${message}\n${isMisunderstood(error) ? helpOf(command) : ''}`);
    process.exitCode = isMisunderstood(error) ? 2 : 1;
  }
}

// The reader, such as `head`, has ended. The service ignores it.
if (process.argv[2] !== 'start')
  for (const output of [process.stdout, process.stderr]) output.on('error', () => process.exit());

void main(process.argv.slice(2));
