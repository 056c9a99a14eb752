import { fittingFields, summaryOf } from './event-summary';
import type { NativeEvent } from './native-event';

/** Characters of the text of a section, https://docs.slack.dev/reference/block-kit/blocks/section-block */
const MAX_SECTION_LENGTH = 3000;
/** Reserved for the line that says how many fields are missing. */
const MORE_LENGTH = 40;

// https://docs.slack.dev/messaging/formatting-message-text/#escaping: the three control characters of every text object.
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string): string => text.replaceAll(/[&<>]/g, (character) => ENTITIES[character]!);

// Without `emoji: false`, Slack would turn `:name:` into pictures.
const plainText = (text: string) => ({ type: 'plain_text', text, emoji: false });
const section = (text: string) => ({ type: 'section', text: plainText(text) });

/**
 * Returns the event as the JSON of a message to a Slack incoming webhook, within the limits of Block Kit. Text from the
 * event stands in `plain_text` objects, which know no markup and no mentions. `text`, which notifications show, is the
 * event name alone, because Slack parses it. Throws SyntaxError for an invalid body.
 */
export function slackMessage(event: NativeEvent): string {
  const summary = summaryOf(event);
  const { rendered, more } = fittingFields(summary, {
    budget: MAX_SECTION_LENGTH - MORE_LENGTH,
    render: ({ name, value }) => escaped(`${name}: ${value}`),
    sizeOf: (line) => line.length + '\n'.length,
  });
  const lines = more === null ? rendered : [...rendered, more];
  const blocks = [
    { type: 'header', text: plainText(escaped(summary.title)) },
    ...(summary.description ? [section(escaped(summary.description))] : []),
    ...(lines.length > 0 ? [section(lines.join('\n'))] : []),
    { type: 'context', elements: [summary.time, summary.id].map((text) => plainText(escaped(text))) },
  ];
  const text = escaped(summary.title);
  return JSON.stringify({ text, mrkdwn: false, unfurl_links: false, unfurl_media: false, blocks });
}
