import { type ApiSchema, type WebhookServiceClient, WebhookServiceError } from 'webhook-notification';
import type { Command } from './command-line';
import { forward } from './forward';
import { forwardedLine } from './forwarded-line';
import { Interruption } from './interruption';
import { type ListenPlan, listenPlan } from './listen-plan';
import { MessagePump } from './message-pump';
import { printable } from './printable';
import { connect, SERVICE_HELP, SERVICE_OPTIONS } from './service-connection';

/** The service deletes the webhook of a listen that was killed. */
const IDLE_SECONDS = 120;
/** Time for the acknowledgement after the timeout of a message, enough for a restart of the service. */
const SPARE_SECONDS = 30;

/** Forwards events to a local server. */
export const listen: Command = {
  name: 'listen',
  usage: `--to <url> [--events <names>] [--webhook <id> --yes] [--exit-after <number>] [--timeout <seconds>] [--print] [--json]
       [--service <url>]`,
  help: `Forwards events to a local server until Ctrl-C, with the headers and bodies that a webhook receives. Creates a webhook for
this, and deletes it at the end. Prints a line for each attempt: time, event, status, response, duration, delivery. A 2xx
response within the service's delivery timeout is a success; the service retries failed attempts.

--to          URL of the server, such as http://localhost:4000/webhooks
--events      names or patterns, comma-separated, such as follower.*,job.completed; default: all
--webhook     uses this pull webhook, whose current consumer then misses these events: requires --yes
--exit-after  exits with code 0 after this many successes
--timeout     exits with code 1 after this many seconds
--print       also prints the body of each event
--json        prints objects

WEBHOOK_SECRET sets the secret of the new webhook. Without it the service generates one, which is shown only on a terminal.
The token needs the scopes webhooks:write and messages:pull.
${SERVICE_HELP}`,
  options: {
    ...SERVICE_OPTIONS,
    to: 'string',
    events: 'string',
    webhook: 'string',
    yes: 'boolean',
    'exit-after': 'string',
    timeout: 'string',
    print: 'boolean',
    json: 'boolean',
  },
  async run(line) {
    const plan = listenPlan(line);
    const client = connect(line);
    const interruption = new Interruption({ endsWithParent: line.optionalVariable('npm_command') !== undefined });
    const { isOver, stop } = timeLimit(plan, interruption);
    try {
      const about = await prepare(client, plan, interruption);
      const succeeded = about === null ? 0 : await listenOn(client, plan, interruption, about);
      return exitCodeOf(plan, succeeded, isOver());
    } finally {
      stop();
      interruption.close();
    }
  },
};

function timeLimit({ timeoutSeconds }: ListenPlan, interruption: Interruption) {
  let isOver = false;
  const end = () => {
    isOver = true;
    interruption.stop();
  };
  const timer = timeoutSeconds === undefined ? undefined : setTimeout(end, 1000 * timeoutSeconds);
  return { isOver: () => isOver, stop: () => clearTimeout(timer) };
}

/** Returns the settings of the service, whose timeout applies to the local server too; null after an interruption. */
async function prepare(
  client: WebhookServiceClient,
  plan: ListenPlan,
  { stopped }: Interruption,
): Promise<ApiSchema<'About'> | null> {
  try {
    await checkScopes(client, plan, stopped);
    return await client.about({ signal: stopped });
  } catch (error) {
    if (stopped.aborted) return null;
    throw error;
  }
}

/** @throws Error that names the scopes, before anything is made */
async function checkScopes(
  client: WebhookServiceClient,
  { webhookId }: ListenPlan,
  signal: AbortSignal,
): Promise<void> {
  const needed: ApiSchema<'Me'>['scopes'] =
    webhookId === undefined ? ['webhooks:write', 'messages:pull'] : ['messages:pull'];
  const { scopes } = await client.me({ signal });
  const missing = needed.filter((scope) => !scopes.includes(scope));
  if (missing.length > 0)
    throw new Error(`The token lacks ${missing.join(' and ')}: listen needs the scopes ${needed.join(' and ')}.`);
}

/** Returns the number of successes. */
async function listenOn(
  client: WebhookServiceClient,
  plan: ListenPlan,
  interruption: Interruption,
  { deliveryTimeoutMs: timeoutMs, headerPrefixes }: ApiSchema<'About'>,
): Promise<number> {
  // A service before 1.0 has no prefixes.
  const [headerPrefix = 'x-service'] = headerPrefixes ?? [];
  const webhookId = plan.webhookId ?? (await createWebhook(client, plan));
  const pump = new MessagePump({
    messages: client.messages,
    webhookId,
    interruption,
    leaseSeconds: Math.ceil(timeoutMs / 1000) + SPARE_SECONDS,
    exitAfter: plan.exitAfter,
    forward: (message, signal) => forward(plan.to, message, { timeoutMs, signal }),
    report: (message, forwarded) =>
      void process.stdout.write(`${forwardedLine(message, forwarded, { ...plan, at: new Date(), headerPrefix })}\n`),
    say,
  });
  try {
    announce(plan, webhookId);
    await pump.run();
  } catch (error) {
    if (plan.webhookId !== undefined || !isGone(error)) throw error;
    throw new Error(`The webhook ${webhookId} was deleted, by hand or because it was idle for two minutes.`, {
      cause: error,
    });
  } finally {
    if (plan.webhookId === undefined) await removeWebhook(client, webhookId);
  }
  return pump.succeeded;
}

async function createWebhook(client: WebhookServiceClient, { events, secret, json }: ListenPlan): Promise<string> {
  const created = await client.webhooks.create({
    kind: 'pull',
    idleSeconds: IDLE_SECONDS,
    events,
    description: 'webhook-notification listen',
    ...(secret !== undefined && { secret }),
  });
  if (secret !== undefined) return created.id;
  // A CI job or a file would store it.
  if (process.stderr.isTTY && !json) say(`The secret is ${created.secret}`);
  else say('The secret is shown on a terminal only: set WEBHOOK_SECRET to choose one.');
  return created.id;
}

function announce({ to, events, webhookId }: ListenPlan, id: string): void {
  const ending = webhookId === undefined ? 'Ctrl-C ends this and deletes the webhook' : 'Ctrl-C ends this';
  const what = webhookId === undefined ? events.join(', ') : 'messages';
  say(`Forwarding ${what} of webhook ${id} to ${to.origin}${to.pathname}. ${ending}.`);
}

/** Never throws: the service deletes an idle webhook by itself. */
async function removeWebhook(client: WebhookServiceClient, id: string): Promise<void> {
  try {
    await client.webhooks.remove(id, { signal: AbortSignal.timeout(10_000) });
  } catch (error) {
    if (isGone(error)) return;
    const reason = error instanceof Error ? error.message : String(error);
    say(`The webhook ${id} could not be deleted; the service deletes it after two idle minutes: ${reason}`);
  }
}

function exitCodeOf({ exitAfter }: ListenPlan, succeeded: number, isOver: boolean): number {
  if (exitAfter === undefined) return isOver ? 1 : 0;
  if (succeeded < exitAfter) say(`${succeeded} of ${exitAfter} successes.`);
  return succeeded < exitAfter ? 1 : 0;
}

const isGone = (error: unknown): boolean =>
  error instanceof WebhookServiceError && error.status === 404 && error.fromService;

/** Writes to stderr, so that scripts find only events on stdout. */
function say(sentence: string): void {
  process.stderr.write(`${printable(sentence)}\n`);
}
