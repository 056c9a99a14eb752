import { cloudEvent } from './cloudevents';
import { discordMessage } from './discord';
import { dataOf, headOf, type NativeEvent } from './native-event';
import { slackMessage } from './slack';
import { teamsMessage } from './teams';

/** The formats that contain the data of an event, and nothing else of its publisher's. `native` is the stored body itself. */
export const DATA_FORMATS = ['native', 'payload', 'standard', 'cloudevents'] as const;
/** The formats in which a webhook can receive events. */
export const FORMATS = [...DATA_FORMATS, 'slack', 'discord', 'teams'] as const;
export type EventFormat = (typeof FORMATS)[number];

/** Whether a program reads the format, and no chat: consumers lease no messages for a chat. */
export const isOfData = (format: unknown): boolean => DATA_FORMATS.some((each) => each === format);

/** The request that delivers an event: `body` is the exact text to sign and send, as UTF-8. */
export interface FormattedEvent {
  contentType: string;
  body: string;
}

const JSON_TYPE = 'application/json';
const WRITERS: Record<EventFormat, { contentType: string; write: (event: NativeEvent) => string }> = {
  native: { contentType: JSON_TYPE, write: ({ body }) => body },
  payload: { contentType: JSON_TYPE, write: ({ body }) => dataOf(body) },
  standard: { contentType: JSON_TYPE, write: standardPayload },
  cloudevents: { contentType: 'application/cloudevents+json', write: cloudEvent },
  slack: { contentType: JSON_TYPE, write: slackMessage },
  discord: { contentType: JSON_TYPE, write: discordMessage },
  teams: { contentType: JSON_TYPE, write: teamsMessage },
};

/**
 * Returns the request body of an event in a format, and its content type. The same event in the same format always has
 * the same bytes. A message for a chat shows at most 20 fields and stays within the limits of its platform; the formats of data
 * are complete. Throws SyntaxError if the body of the event is not JSON; no stored body is.
 */
export function formatted(format: EventFormat, event: NativeEvent): FormattedEvent {
  const { contentType, write } = WRITERS[format];
  return { contentType, body: write(event) };
}

/** The payload that Standard Webhooks 1.0 recommends, with the data as it is stored. */
function standardPayload({ body }: NativeEvent): string {
  const { event: type, createdAt: timestamp } = headOf(body);
  return `${JSON.stringify({ type, timestamp }).slice(0, -1)},"data":${dataOf(body)}}`;
}
