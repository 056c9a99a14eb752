import { fittingFields, summaryOf } from './event-summary';
import type { NativeEvent } from './native-event';

/** Bytes: "28 KB", https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook */
const MAX_MESSAGE_BYTES = 28_000;
/** Reserved for the block that says how many fields are missing. */
const MORE_BYTES = 400;

interface TextRun {
  type: 'TextRun';
  text: string;
  weight?: 'Bolder';
  size?: 'Large';
  isSubtle?: true;
}
interface RichTextBlock {
  type: 'RichTextBlock';
  inlines: TextRun[];
}

// A TextRun has no Markdown, but renderers replace {{DATE(…)}} and {{TIME(…)}} in it as in a TextBlock
// (https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features). Split in two runs, they are only text.
const INSIDE_FUNCTION = /(?<=\{)(?=\{(?:DATE|TIME)\()/i;

const runs = (text: string, style: Omit<TextRun, 'type' | 'text'> = {}): TextRun[] =>
  text.split(INSIDE_FUNCTION).map((part) => ({ type: 'TextRun', text: part, ...style }));
const block = (inlines: TextRun[]): RichTextBlock => ({ type: 'RichTextBlock', inlines });

const messageOf = (body: RichTextBlock[]) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.2', // the first with RichTextBlock
        body,
      },
    },
  ],
});

/** Returns the size in bytes, as UTF-8 or as UTF-16, whichever is more: Teams is known to count either. */
function sizeOf(value: object): number {
  const json = JSON.stringify(value);
  return Math.max(Buffer.byteLength(json), 2 * json.length);
}

/**
 * Returns the event as the JSON of a message with an Adaptive Card, for a Teams workflow or incoming webhook: at most
 * 28,000 bytes. Text from the event stands only in `TextRun` elements, which know no Markdown and no mentions; the card
 * has no actions. Throws SyntaxError for an invalid body.
 */
export function teamsMessage(event: NativeEvent): string {
  const summary = summaryOf(event);
  const top = [
    block(runs(summary.title, { weight: 'Bolder', size: 'Large' })),
    ...(summary.description ? [block(runs(summary.description))] : []),
  ];
  const bottom = block(runs(`${summary.time} · ${summary.id}`, { isSubtle: true }));
  const { rendered, more } = fittingFields(summary, {
    budget: MAX_MESSAGE_BYTES - MORE_BYTES - sizeOf(messageOf([...top, bottom])),
    render: ({ name, value }) => block([...runs(`${name}: `, { weight: 'Bolder' }), ...runs(value)]),
    sizeOf: (field) => sizeOf(field) + 2 * ','.length,
  });
  const fields = more === null ? rendered : [...rendered, block(runs(more))];
  return JSON.stringify(messageOf([...top, ...fields, bottom]));
}
