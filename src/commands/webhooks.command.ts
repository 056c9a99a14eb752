interface Command {
  name: string;
  summary: string;
  /** Loads the command with only the modules that it needs, and runs it with its arguments. */
  run: (args: string[]) => Promise<void>;
}

const COMMANDS: readonly Command[] = [
  {
    name: 'start',
    summary: 'start the service, as npm start does',
    run: async () => void (await import('../main.js')),
  },
  {
    name: 'token create',
    summary: 'create an access token and print it',
    run: async (args) => (await import('./token-create.command.js')).createToken(args),
  },
  {
    name: 'console-link',
    summary: 'create a link that signs a user in to the console, and print it',
    run: async (args) => (await import('./console-link.command.js')).createConsoleLink(args),
  },
  {
    name: 'verify',
    summary: 'verify the signatures of a saved delivery',
    run: async (args) => (await import('./verify.command.js')).verifyDelivery(args),
  },
  {
    name: 'rekey',
    summary: 'encrypt every stored secret with the first key of SECRETS_KEY',
    run: async (args) => (await import('./rekey.command.js')).rekey(args),
  },
  {
    name: 'migrate',
    summary: 'migrate the database, as every start does',
    run: async () => (await import('./migrate.command.js')).migrateStore(),
  },
  {
    name: 'openapi',
    summary: 'write openapi.json; with --check, fail when it is out of date',
    run: async (args) => (await import('./openapi.command.js')).writeOpenApi(args),
  },
];

const USAGE = `Usage: webhooks <command> [options]

${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(14)}${summary}`).join('\n')}
`;

/** Runs the `webhooks` program: finds the command by its first words, and runs it. Exits with code 2 if there is none. */
async function main(words: string[]): Promise<void> {
  const command = COMMANDS.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
  if (command) return command.run(words.slice(command.name.split(' ').length));
  const wantsHelp = ['--help', '-h', 'help'].includes(words[0] ?? '');
  if (!wantsHelp && words.length > 0)
    process.stderr.write(`Unknown command: ${JSON.stringify(words.join(' ').slice(0, 100))}.\n`);
  (wantsHelp ? process.stdout : process.stderr).write(USAGE);
  process.exitCode = wantsHelp ? 0 : 2;
}

// The reader, such as `head`, has ended. The service ignores it.
if (process.argv[2] !== 'start')
  for (const output of [process.stdout, process.stderr]) output.on('error', () => process.exit());

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
