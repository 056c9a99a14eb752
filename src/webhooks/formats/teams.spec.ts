import { teamsMessage } from './teams';

interface Message {
  attachments: { content: { body: { inlines: { text: string }[] }[] } }[];
}

const eventOf = (data: unknown, description: string | null = null) => ({
  body: JSON.stringify({ id: 'e1', event: 'job.started', createdAt: '2026-11-24T09:30:00.000Z', data }),
  userId: null,
  description,
});
const blocksOf = (body: string) => (JSON.parse(body) as Message).attachments[0]!.content.body;
const linesOf = (body: string) => blocksOf(body).map(({ inlines }) => inlines.map(({ text }) => text).join(''));

describe('teamsMessage', () => {
  // https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using (Adaptive Cards);
  // https://learn.microsoft.com/adaptive-cards/schema-explorer/text-run: "Markdown is not supported", since version 1.2
  it('is a message with a card of TextRuns', () => {
    expect(JSON.parse(teamsMessage(eventOf({ jobId: 7 }, 'A job has started.')))).toEqual({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.2',
            body: [
              [{ type: 'TextRun', text: 'job.started', weight: 'Bolder', size: 'Large' }],
              [{ type: 'TextRun', text: 'A job has started.' }],
              [
                { type: 'TextRun', text: 'jobId: ', weight: 'Bolder' },
                { type: 'TextRun', text: '7' },
              ],
              [{ type: 'TextRun', text: '2026-11-24T09:30:00.000Z · e1', isSubtle: true }],
            ].map((inlines) => ({ type: 'RichTextBlock', inlines })),
          },
        },
      ],
    });
  });

  it('has no block without text', () => {
    expect(linesOf(teamsMessage(eventOf({}, '')))).toEqual(['job.started', '2026-11-24T09:30:00.000Z · e1']);
  });

  it.each(['**bold** [bank](https://evil.example)', '<at>everyone</at>', '<b>html</b> &amp;', '${data} @{body}', ':)'])(
    'leaves %s as it is',
    (text) => {
      expect(linesOf(teamsMessage(eventOf({ [text]: text }, text))).slice(1, 3)).toEqual([text, `${text}: ${text}`]);
    },
  );

  // https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features (date and time functions)
  it.each([
    ['at {{DATE(2017-02-14T06:08:00Z, SHORT)}}', ['at {', '{DATE(2017-02-14T06:08:00Z, SHORT)}}']],
    ['{{TIME(2017-02-14T06:08:00Z)}}', ['{', '{TIME(2017-02-14T06:08:00Z)}}']],
    ['{{{DATE(x)}}', ['{{', '{DATE(x)}}']],
    ['{{name}} {DATE(x)}', ['{{name}} {DATE(x)}']],
  ])('splits the functions in %s', (text, parts) => {
    const [, description, field] = blocksOf(teamsMessage(eventOf({ a: text }, text)));
    expect(description!.inlines.map((run) => run.text)).toEqual(parts);
    expect(field!.inlines.map((run) => run.text)).toEqual(['a: ', ...parts]);
  });

  // 28 KB: https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook and
  // https://learn.microsoft.com/connectors/teams/#known-issues-and-limitations-with-actions
  it.each([
    ['a', 400, 20, '… and 5 more'],
    ['"', 400, 14, '… and 11 more'],
    ['李', 400, 20, '… and 5 more'],
    ['😀', 200, 20, '… and 5 more'],
    ['{{DATE(', 57, 6, '… and 19 more'],
  ])('fits 25 values of %j × %d into a message: %d and %j', (characters, length, count, more) => {
    const body = teamsMessage(eventOf({ values: Array(25).fill(characters.repeat(length)) }));
    const lines = linesOf(body).slice(1, -1);
    expect(lines).toHaveLength(count + 1);
    expect(lines.at(-1)).toBe(more);
    expect(Buffer.byteLength(body, 'utf8')).toBeLessThanOrEqual(28_000);
    expect(Buffer.byteLength(body, 'utf16le')).toBeLessThanOrEqual(28_000);
  });

  it('counts bytes of UTF-8 where they are more than those of UTF-16', () => {
    const body = teamsMessage(eventOf({ ['李'.repeat(90)]: Array(25).fill('李'.repeat(400)) }));
    expect(linesOf(body).slice(1, -1)).toHaveLength(16 + 1);
    expect(Buffer.byteLength(body, 'utf8')).toBeLessThanOrEqual(28_000);
  });
});
