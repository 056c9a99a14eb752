import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DEFAULT_OUTBOX, outboxStatements, rowsOf, type Transaction } from 'webhook-notification/cli';
import type { Command, CommandLine } from './command-line';
import { outboxStatus } from './outbox-status';
import { printable } from './printable';
import { addressOf, SERVICE_HELP, SERVICE_OPTIONS, tokenOf } from './service-connection';

type Connection = Transaction & { end(): Promise<void> };

const TABLE = { table: 'string' } as const;
const DATABASE = { ...TABLE, 'database-url': 'string' } as const;
const tableOf = (line: CommandLine): string => line.option('table') ?? DEFAULT_OUTBOX;

const outboxSql: Command = {
  name: 'outbox sql',
  usage: '[--table <name>]',
  help: 'Prints the statements that make the outbox.',
  options: TABLE,
  run(line) {
    for (const statement of outboxStatements(tableOf(line)).create) process.stdout.write(`${statement};\n`);
    return Promise.resolve(0);
  },
};

const outboxMigrate: Command = {
  name: 'outbox migrate',
  usage: '[--table <name>] --database-url <url>',
  help: 'Runs the statements that make the outbox.',
  options: DATABASE,
  run: (line) =>
    withConnection(line, async (connection) => {
      for (const statement of outboxStatements(tableOf(line)).create) await rowsOf(connection, statement);
      return 0;
    }),
};

const outboxRetry: Command = {
  name: 'outbox retry',
  usage: '[--table <name>] --database-url <url> [--position <number>]',
  help: 'Relays all events that were refused again, or the one at a position.',
  options: { ...DATABASE, position: 'string' },
  run(line) {
    const position = line.option('position') ?? '';
    if (!/^\d{0,18}$/.test(position)) line.refuse('--position must be a number.');
    return withConnection(line, async (connection) => {
      const table = tableOf(line);
      const [row] = await rowsOf<{ count: string }>(connection, outboxStatements(table).retry, position);
      process.stdout.write(`${row?.count ?? 0} events of ${table} wait again.\n`);
      return 0;
    });
  },
};

const status: Command = {
  name: 'status',
  usage: '[--table <name>] --database-url <url> [--service <url>] [--token <token>]',
  help: `Prints how many events wait in the outbox or were refused, and as whom the token publishes. Exits with code 1 when an operator
must act. --token overrides WEBHOOKS_TOKEN, but shows the token in the list of processes; --url is an older name of --service.
${SERVICE_HELP}`,
  options: { ...DATABASE, ...SERVICE_OPTIONS, url: 'string', token: 'string' },
  run(line) {
    const [url, token] = [addressOf(line), line.option('token') ?? tokenOf(line)];
    return withConnection(line, async (connection) => {
      const { isWell, lines } = await outboxStatus({ connection, table: tableOf(line), url, token });
      process.stdout.write(`${lines.map(printable).join('\n')}\n`);
      return isWell ? 0 : 1;
    });
  },
};

export const outboxCommands = [outboxSql, outboxMigrate, outboxRetry, status];

/** Connects with the pg package of the application in whose folder the command runs. */
async function withConnection(line: CommandLine, action: (connection: Connection) => Promise<number>): Promise<number> {
  const connectionString = line.needed('database-url');
  const { Pool } = createRequire(join(process.cwd(), 'package.json'))('pg') as {
    Pool: new (config: object) => Connection;
  };
  const pool = new Pool({ connectionString, max: 1 });
  try {
    return await action(pool);
  } finally {
    await pool.end();
  }
}
