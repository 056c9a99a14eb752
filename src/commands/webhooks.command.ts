import { ALL_SCOPES } from '../auth/access-token';
import { isMisunderstood, Misunderstood } from './misunderstood';

interface Command {
  name: string;
  summary: string;
  /** Its options, and what else its users have to know. */
  usage: string;
  /** Loads the command with only the modules that it needs, and runs it with its arguments. */
  run: (args: string[]) => Promise<void>;
}

const COMMANDS: readonly Command[] = [
  {
    name: 'start',
    summary: 'start the service, as npm start does',
    usage: '',
    run: async () => void (await import('../main.js')),
  },
  {
    name: 'token create',
    summary: 'create an access token and print it',
    usage: `--user <user id> --scopes <scope,scope|all> [--name <text>] [--expires <ISO 8601>]
Scopes: ${ALL_SCOPES.join(', ')}`,
    run: async (args) => (await import('./token-create.command.js')).createToken(args),
  },
  {
    name: 'console-link',
    summary: 'create a link that signs a user in to the console, and print it',
    usage: '--user <user id> [--scopes <scope,scope>] [--expires-in <seconds>] [--path </console/...>]',
    run: async (args) => (await import('./console-link.command.js')).createConsoleLink(args),
  },
  {
    name: 'verify',
    summary: 'verify the signatures of a saved delivery',
    usage: `[<file>] [--headers <file> --body <file>] [--secret-file <file>]
                           [--tolerance <seconds>] [--computed <signature>]

Reads a saved delivery (a raw HTTP request, or the JSON of a delivery) from the file or from standard input, and verifies
its signatures. The secret comes from WEBHOOK_SECRET or a file. --computed is the signature that your own code computed.
Exit code: 0 genuine, 1 not genuine, 2 invalid input.`,
    run: async (args) => (await import('./verify.command.js')).verifyDelivery(args),
  },
  {
    name: 'rekey',
    summary: 'encrypt every stored secret with the first key of SECRETS_KEY',
    usage: '[--force]',
    run: async (args) => (await import('./rekey.command.js')).rekey(args),
  },
  {
    name: 'migrate',
    summary: 'migrate the database, as every start does',
    usage: '',
    run: async () => (await import('./migrate.command.js')).migrateStore(),
  },
  {
    name: 'openapi',
    summary: 'write openapi.json; with --check, fail when it is out of date',
    usage: '[--check]',
    run: async (args) => (await import('./openapi.command.js')).writeOpenApi(args),
  },
];

const USAGE = `Usage: webhooks <command> [options]

${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(14)}${summary}`).join('\n')}

webhooks <command> --help explains a command.
`;

const usageOf = ({ name, usage }: Command): string => `Usage: npx webhooks ${name} ${usage}`.trimEnd() + '\n';

/** Runs the `webhooks` program: finds the command by its first words, and runs it. Exits with code 2 if there is none. */
async function main(words: string[]): Promise<void> {
  const command = COMMANDS.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
  const wantsHelp = words[0] === 'help' || words.includes('--help') || words.includes('-h');
  if (command && wantsHelp) return void process.stdout.write(usageOf(command));
  if (command) return runCommand(command, words.slice(command.name.split(' ').length));
  if (!wantsHelp && words.length > 0)
    process.stderr.write(`Unknown command: ${JSON.stringify(words.join(' ').slice(0, 100))}.\n`);
  (wantsHelp ? process.stdout : process.stderr).write(USAGE);
  process.exitCode = wantsHelp ? 0 : 2;
}

async function runCommand(command: Command, args: string[]): Promise<void> {
  try {
    if (command.usage === '' && args[0])
      throw new Misunderstood(`${command.name} takes no arguments: remove ${args[0]}`);
    await command.run(args);
  } catch (error) {
    if (!isMisunderstood(error)) throw error;
    process.stderr.write(`${(error as Error).message}\n${usageOf(command)}`);
    process.exitCode = 2;
  }
}

// The reader, such as `head`, has ended. The service ignores it.
if (process.argv[2] !== 'start')
  for (const output of [process.stdout, process.stderr]) output.on('error', () => process.exit());

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode ||= 1;
});
