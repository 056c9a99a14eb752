#!/usr/bin/env node
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { outboxStatus } from './command/outbox-status';
import { DEFAULT_OUTBOX, outboxStatements } from './nest/outbox-statements';
import { rowsOf, type Transaction } from './nest/transaction';

const USAGE = `Usage: webhook-notification outbox sql     [--table <name>]
       webhook-notification outbox migrate [--table <name>] --database-url <url>
       webhook-notification outbox retry   [--table <name>] --database-url <url> [--position <number>]
       webhook-notification status         [--table <name>] --database-url <url> --url <service> --token <token>

outbox sql prints the statements that make the outbox, and outbox migrate runs them. outbox retry relays all events that were
refused again, or the one at a position. status says how many events wait or were refused, and as whom the token publishes.
Exit code: 1 when somebody has to look, 2 when it was not understood.`;

type Options = Record<'table' | 'database-url' | 'url' | 'token' | 'position', string | undefined>;
type Connection = Transaction & { end(): Promise<void> };

class Misunderstood extends Error {}

async function run(args: string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args,
    options: { table: text, 'database-url': text, url: text, token: text, position: text },
    allowPositionals: true,
  });
  const options = values as Options;
  const { table = DEFAULT_OUTBOX } = options;
  switch (positionals.join(' ')) {
    case 'outbox sql':
      process.stdout.write(
        outboxStatements(table)
          .create.map((statement) => `${statement};\n`)
          .join(''),
      );
      return 0;
    case 'outbox migrate':
      return withConnection(options, async (connection) => {
        for (const statement of outboxStatements(table).create) await rowsOf(connection, statement);
        return 0;
      });
    case 'outbox retry':
      return retry(options, table);
    case 'status':
      return withConnection(options, async (connection) => {
        const [url, token] = [needed(options, 'url'), needed(options, 'token')];
        const { isWell, lines } = await outboxStatus({ connection, table, url, token });
        process.stdout.write(`${lines.join('\n')}\n`);
        return isWell ? 0 : 1;
      });
    default:
      throw new Misunderstood(USAGE);
  }
}

async function retry(options: Options, table: string): Promise<number> {
  const { position = '' } = options;
  if (!/^\d{0,18}$/.test(position)) throw new Misunderstood(`--position must be a number.\n${USAGE}`);
  return withConnection(options, async (connection) => {
    const [row] = await rowsOf<{ count: string }>(connection, outboxStatements(table).retry, position);
    process.stdout.write(`${row?.count ?? 0} events of ${table} wait again.\n`);
    return 0;
  });
}

function needed(options: Options, name: keyof Options): string {
  const value = options[name];
  if (value === undefined || value === '') throw new Misunderstood(`--${name} is missing.\n${USAGE}`);
  return value;
}

/** Connects with the pg package of the application in whose folder the command runs. */
async function withConnection(options: Options, action: (connection: Connection) => Promise<number>): Promise<number> {
  const connectionString = needed(options, 'database-url');
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

run(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    const isMisunderstood = error instanceof Misunderstood || String((error as Error).stack).includes('ERR_PARSE_ARGS');
    process.exitCode = isMisunderstood ? 2 : 1;
  },
);
