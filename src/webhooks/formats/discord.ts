import { fittingFields, summaryOf } from './event-summary';
import type { NativeEvent } from './native-event';

/** Characters, https://docs.discord.com/developers/resources/webhook#execute-webhook */
const MAX_CONTENT_LENGTH = 2000;
/** Reserved for the line that says how many fields are missing. */
const MORE_LENGTH = 40;
/** https://docs.discord.com/developers/resources/message#message-object-message-flags */
const SUPPRESS_EMBEDS = 1 << 2;

// Markdown of https://support.discord.com/hc/en-us/articles/210298617 and the `<…>` forms of
// https://docs.discord.com/developers/reference#message-formatting. Colon, slash and dot are there for bare URLs, which
// Discord links without any markup.
const MARKUP = /[\\*_~`|<>[\]()#+\-.:/@]/g;
const escaped = (text: string): string => text.replaceAll(MARKUP, String.raw`\$&`);

/**
 * Returns the event as the JSON of a message to a Discord webhook: Markdown of at most 2,000 UTF-16 units. Text from the
 * event is escaped, mentions nobody and has no previews. Throws SyntaxError for an invalid body.
 */
export function discordMessage(event: NativeEvent): string {
  const summary = summaryOf(event);
  const top = [`**${escaped(summary.title)}**`, ...(summary.description ? [escaped(summary.description)] : [])];
  const bottom = ['', `${escaped(summary.time)} · ${escaped(summary.id)}`];
  const { rendered, more } = fittingFields(summary, {
    budget: MAX_CONTENT_LENGTH - MORE_LENGTH - [...top, '', ...bottom].join('\n').length,
    render: ({ name, value }) => `${escaped(name)}: ${escaped(value)}`,
    sizeOf: (line) => line.length + '\n'.length,
  });
  const fields = more === null ? rendered : [...rendered, more];
  const content = [...top, ...(fields.length > 0 ? ['', ...fields] : []), ...bottom].join('\n');
  return JSON.stringify({ content, allowed_mentions: { parse: [] }, flags: SUPPRESS_EMBEDS });
}
