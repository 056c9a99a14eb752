import { styleText } from 'node:util';
import type { ApiSchema } from 'webhook-notification';
import type { Command } from './command-line';
import { printable, printableJson } from './printable';
import { connect, SERVICE_HELP, SERVICE_OPTIONS } from './service-connection';

type Delivery = ApiSchema<'Delivery'>;

const WAIT_SECONDS = 20;
const COLORS = { pending: 'yellow', succeeded: 'green', failed: 'red', canceled: 'gray' } as const;

/** Prints attempts as they change. */
export const tail: Command = {
  name: 'tail',
  usage: '[--webhook <id>] [--status <status>] [--json] [--service <url>]',
  help: `Prints each attempt whose status changes from now on, until Ctrl-C: time, event, status, response, duration, webhook,
delivery. --status is pending, succeeded, failed or canceled; --json prints objects.
${SERVICE_HELP}`,
  options: { ...SERVICE_OPTIONS, webhook: 'string', status: 'string', json: 'boolean' },
  async run(line) {
    const { deliveries } = connect(line);
    const [webhookId, status] = [line.option('webhook'), line.option('status')];
    const lineOf = line.flag('json') ? printableJson : textOf;
    const stopped = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
    let changedAfter = 'now';
    while (!stopped.signal.aborted) {
      const query = {
        changedAfter,
        // The first page, which is empty, only says where to begin.
        ...(changedAfter !== 'now' && { waitSeconds: WAIT_SECONDS }),
        ...(status !== undefined && { status }),
      } as Parameters<typeof deliveries.list>[0];
      const options = { signal: stopped.signal };
      const page =
        webhookId === undefined ? deliveries.list(query, options) : deliveries.listOf(webhookId, query, options);
      const found = await page.catch((error: unknown) => {
        if (stopped.signal.aborted) return null;
        throw error;
      });
      if (!found) break;
      // To stderr, so that scripts find only attempts on stdout.
      if (changedAfter === 'now') process.stderr.write('Waiting for attempts. Ctrl-C ends this.\n');
      for (const delivery of found.data) process.stdout.write(`${lineOf(delivery)}\n`);
      changedAfter = found.nextCursor ?? changedAfter;
    }
    return 0;
  },
};

function textOf(delivery: Delivery): string {
  const { completedAt, createdAt, event, status, attempt, responseStatus, error, durationMs, webhookId, id } = delivery;
  const time = timeOf(completedAt ?? createdAt);
  const color = Object.hasOwn(COLORS, status) ? COLORS[status] : 'reset';
  const colored = styleText(color, printable(status));
  const response = responseStatus ?? error?.code ?? '-';
  const duration = durationMs === null ? '-' : `${durationMs} ms`;
  return [
    time,
    printable(event),
    `${colored} (attempt ${printable(attempt)})`,
    ...[response, duration, webhookId, id].map(printable),
  ].join('  ');
}

function timeOf(value: unknown): string {
  const time = new Date(String(value));
  return Number.isNaN(time.getTime()) ? '--:--:--' : time.toISOString().slice(11, 19);
}
