import { createClient } from 'webhook-notification';
import { outboxStatements, rowsOf, type Transaction } from 'webhook-notification/cli';

export interface StatusOptions {
  connection: Transaction;
  table: string;
  url: string;
  token: string;
}

/** Events older than this are late. */
const BEHIND_AFTER_SECONDS = 60;
const NEEDED_SCOPES = ['events:publish', 'events:broadcast', 'event-types:manage'] as const;

/** The findings, as lines for people; `isWell` is false when an operator must act. */
export interface OutboxStatus {
  isWell: boolean;
  lines: string[];
}

/** Checks the outbox and the service. Never throws because of the service: its failure is a finding. */
export async function outboxStatus({ connection, table, url, token }: StatusOptions): Promise<OutboxStatus> {
  const { summary, refused, relayedAs } = outboxStatements(table);
  const [found] = await rowsOf<{ waiting: string; seconds: string | null; refused: string }>(connection, summary);
  const { waiting = '0', seconds, refused: count = '0' } = found ?? {};
  const isBehind = Number(seconds ?? 0) > BEHIND_AFTER_SECONDS;
  const age = seconds == null ? '' : `, the oldest for ${seconds} s`;
  const examples = await rowsOf<{ position: string; name: string; refused: string }>(connection, refused);
  const before = await rowsOf<{ userId: string }>(connection, relayedAs);
  const service = await serviceStatus(
    url,
    token,
    before.map(({ userId }) => userId),
  );
  return {
    isWell: !isBehind && count === '0' && service.isWell,
    lines: [
      `${waiting} events wait in ${table}${age}${isBehind ? ': nobody relays them, or the service does not take them' : ''}.`,
      `${count} events are set aside, because the service refused them${count === '0' ? '' : ': outbox retry relays them again'}.`,
      ...examples.map((row) => `  ${row.position} ${row.name}: ${row.refused}`),
      ...service.lines,
    ],
  };
}

/** @param before the users as whom waiting events were relayed */
async function serviceStatus(url: string, token: string, before: readonly string[]): Promise<OutboxStatus> {
  try {
    const client = createClient({ url, token, maxRetries: 0 });
    const [{ version }, { userId, scopes }] = await Promise.all([client.about(), client.me()]);
    const missing = NEEDED_SCOPES.filter((scope) => !scopes.includes(scope));
    const others = before.filter((other) => other !== userId);
    return {
      isWell: missing.length === 0 && others.length === 0,
      lines: [
        `The service at ${url} has version ${version}. The token publishes as ${userId}, to whom its idempotency keys belong.`,
        ...others.map(
          (other) =>
            `Events that wait were relayed as ${other}: another user's keys do not know them, so some may be published twice.`,
        ),
        ...(missing.length > 0 ? [`The token lacks ${missing.join(' and ')}.`] : []),
      ],
    };
  } catch (error) {
    return {
      isWell: false,
      lines: [`The service at ${url}: ${error instanceof Error ? error.message : String(error)}`],
    };
  }
}
