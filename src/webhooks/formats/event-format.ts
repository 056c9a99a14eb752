import { cloudEvent } from './cloudevents';
import { discordMessage } from './discord';
import type { NativeEvent } from './native-event';
import { slackMessage } from './slack';
import { teamsMessage } from './teams';

/** The formats in which a webhook can receive events. `native` is the stored body itself. */
export const FORMATS = ['native', 'cloudevents', 'slack', 'discord', 'teams'] as const;
export type EventFormat = (typeof FORMATS)[number];

/** The request that delivers an event: `body` is the exact text to sign and send, as UTF-8. */
export interface FormattedEvent {
  contentType: string;
  body: string;
}

const JSON_TYPE = 'application/json';
const WRITERS: Record<EventFormat, { contentType: string; write: (event: NativeEvent) => string }> = {
  native: { contentType: JSON_TYPE, write: ({ body }) => body },
  cloudevents: { contentType: 'application/cloudevents+json', write: cloudEvent },
  slack: { contentType: JSON_TYPE, write: slackMessage },
  discord: { contentType: JSON_TYPE, write: discordMessage },
  teams: { contentType: JSON_TYPE, write: teamsMessage },
};

/**
 * Returns the request body of an event in a format, and its content type. The same event in the same format always has
 * the same bytes. A message for a chat shows at most 20 fields and stays within the limits of its platform; `native` and
 * `cloudevents` are complete. Throws SyntaxError if the body of the event is not JSON; no stored body is.
 */
export function formatted(format: EventFormat, event: NativeEvent): FormattedEvent {
  const { contentType, write } = WRITERS[format];
  return { contentType, body: write(event) };
}
