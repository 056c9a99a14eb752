import { urlOf } from 'webhook-notification/cli';
import type { CommandLine } from './command-line';

/** What a command line of `listen` asks for. */
export interface ListenPlan {
  to: URL;
  events: string[];
  /** An existing webhook. */
  webhookId: string | undefined;
  /** Of the new webhook. */
  secret: string | undefined;
  exitAfter: number | undefined;
  timeoutSeconds: number | undefined;
  json: boolean;
  withBody: boolean;
}

const MAX_SECONDS = 7 * 86_400;

/** @throws Misunderstood */
export function listenPlan(line: CommandLine): ListenPlan {
  const to = line.needed('to');
  const url = urlOf(to);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    return line.refuse('--to must be an absolute http: or https: url, without a user and a password.');
  const [webhookId, events] = [line.option('webhook'), line.option('events')];
  if (webhookId !== undefined && !line.flag('yes'))
    return line.refuse(
      '--webhook takes the events of that webhook away from its current consumer: confirm with --yes.',
    );
  if (webhookId !== undefined && events !== undefined)
    return line.refuse('--events is for a new webhook: an existing one has its own.');
  return {
    to: url,
    events: (events ?? '*').split(',').map((name) => name.trim()),
    webhookId,
    secret: line.optionalVariable('WEBHOOK_SECRET'),
    exitAfter: line.wholeNumber('exit-after', 1_000_000),
    timeoutSeconds: line.wholeNumber('timeout', MAX_SECONDS),
    json: line.flag('json'),
    withBody: line.flag('print'),
  };
}
