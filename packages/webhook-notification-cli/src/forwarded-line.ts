import { styleText } from 'node:util';
import type { ApiSchema } from 'webhook-notification';
import type { Forwarded } from './forward';
import { printable, printableJson } from './printable';

type Message = ApiSchema<'Message'>;

export interface ForwardedLineOptions {
  at: Date;
  json: boolean;
  /** Includes the body of the message. */
  withBody: boolean;
  /** Of the headers of the service. */
  headerPrefix: string;
}

/** Returns the printed form of a message: a line for people, with the body on a second one, or a JSON object on one line. */
export function forwardedLine(message: Message, forwarded: Forwarded, options: ForwardedLineOptions): string {
  const { at, json, withBody, headerPrefix } = options;
  const { body } = message;
  if (json)
    return printableJson({
      time: at.toISOString(),
      ...recordOf(message, forwarded, headerPrefix),
      ...(withBody && { body }),
    });
  return textOf(recordOf(message, forwarded, headerPrefix), at) + (withBody ? `\n${printable(body)}` : '');
}

function recordOf(message: Message, { responseStatus, durationMs, failure }: Forwarded, prefix: string) {
  return {
    event: headerOf(message, `${prefix}-event`),
    status: failure === null ? 'succeeded' : 'failed',
    attempt: Number(headerOf(message, `${prefix}-attempt`)),
    trigger: headerOf(message, `${prefix}-trigger`),
    responseStatus,
    durationMs,
    error: failure,
    deliveryId: message.deliveryId,
    eventId: headerOf(message, 'webhook-id'),
  };
}

function textOf(record: ReturnType<typeof recordOf>, at: Date): string {
  const { event, status, attempt, responseStatus, durationMs, error, deliveryId } = record;
  const colored = styleText(error === null ? 'green' : 'red', status);
  const texts = [event, `${attempt}`, error ?? `${responseStatus}`, deliveryId].map(printable);
  const [name, number, answer, id] = texts as [string, string, string, string];
  const time = at.toISOString().slice(11, 19);
  return [time, name, `${colored} (attempt ${number})`, answer, `${durationMs} ms`, id].join('  ');
}

const headerOf = ({ headers }: Message, name: string): string => String(headers[name] ?? '');
