import { slackMessage } from './slack';

interface TextObject {
  type: string;
  text: string;
}
interface Message {
  text: string;
  blocks: { type: string; text?: TextObject; elements?: TextObject[] }[];
}

const eventOf = (data: unknown, description: string | null = null, event = 'job.started') => ({
  body: JSON.stringify({ id: 'e1', event, createdAt: '2026-11-24T09:30:00.000Z', data }),
  userId: null,
  description,
});
const messageOf = (...event: Parameters<typeof eventOf>) => JSON.parse(slackMessage(eventOf(...event))) as Message;
const sectionsOf = ({ blocks }: Message) =>
  blocks.filter(({ type }) => type === 'section').map(({ text }) => text!.text);

describe('slackMessage', () => {
  it('has exactly these bytes', () => {
    expect(slackMessage(eventOf({ jobId: 7, error: { name: 'E' } }, 'A job has started.'))).toBe(
      '{"text":"job.started","mrkdwn":false,"unfurl_links":false,"unfurl_media":false,"blocks":[' +
        '{"type":"header","text":{"type":"plain_text","text":"job.started","emoji":false}},' +
        '{"type":"section","text":{"type":"plain_text","text":"A job has started.","emoji":false}},' +
        '{"type":"section","text":{"type":"plain_text","text":"jobId: 7\\nerror.name: E","emoji":false}},' +
        '{"type":"context","elements":[{"type":"plain_text","text":"2026-11-24T09:30:00.000Z","emoji":false},' +
        '{"type":"plain_text","text":"e1","emoji":false}]}]}',
    );
  });

  // "The minimum length is 1", https://docs.slack.dev/reference/block-kit/composition-objects/text-object
  it('has no empty section', () => {
    expect(messageOf({}).blocks.map(({ type }) => type)).toEqual(['header', 'context']);
    expect(messageOf({}, '').blocks.map(({ type }) => type)).toEqual(['header', 'context']);
  });

  // https://docs.slack.dev/messaging/formatting-message-text/#escaping and #advanced
  it.each([
    ['<!channel>', '&lt;!channel&gt;'],
    ['<!here> <!everyone>', '&lt;!here&gt; &lt;!everyone&gt;'],
    ['<@U024BE7LH>', '&lt;@U024BE7LH&gt;'],
    ['<#C024BE7LR>', '&lt;#C024BE7LR&gt;'],
    ['<!subteam^SAZ94GDB8>', '&lt;!subteam^SAZ94GDB8&gt;'],
    ['<!date^1392734382^{date}|x>', '&lt;!date^1392734382^{date}|x&gt;'],
    ['<https://evil.example|bank>', '&lt;https://evil.example|bank&gt;'],
    ['&lt;!channel&gt;', '&amp;lt;!channel&amp;gt;'],
    ['*a* _b_ ~c~ `d` :smile: > e', '*a* _b_ ~c~ `d` :smile: &gt; e'],
  ])('shows %s as text in names, values and descriptions', (text, escaped) => {
    expect(sectionsOf(messageOf({ [text]: text }, text))).toEqual([escaped, `${escaped}: ${escaped}`]);
  });

  it('has only the event name in the text that Slack parses', () => {
    expect(messageOf({ a: '<!channel>' }, '<!channel>').text).toBe('job.started');
  });

  // header: 150 characters, https://docs.slack.dev/reference/block-kit/blocks/header-block
  it('shows the longest event name', () => {
    const name = `${'a'.repeat(63)}.${'b'.repeat(64)}`;
    expect(messageOf({}, null, name).blocks[0]!.text!.text).toBe(name);
  });

  // section: 3000 characters, https://docs.slack.dev/reference/block-kit/blocks/section-block
  it.each([
    ['a', 400, 7, '… and 18 more'],
    ['&', 400, 1, '… and 24 more'],
    ['a', 10, 20, '… and 5 more'],
  ])('fits 25 values of %j × %d into a section: %d and %j', (character, length, count, more) => {
    const values = Array(25).fill(character.repeat(length));
    const lines = sectionsOf(messageOf({ values }))[0]!.split('\n');
    expect(lines).toHaveLength(count + 1);
    expect(lines.at(-1)).toBe(more);
    expect(lines.join('\n').length).toBeLessThanOrEqual(3000);
  });

  it('shows at least one field, however much it has to escape', () => {
    const [fields] = sectionsOf(messageOf({ ['&'.repeat(200)]: '&'.repeat(500), b: 1 }));
    expect(fields).toBe(`${'&amp;'.repeat(99)}…: ${'&amp;'.repeat(399)}…\nb: 1`);
  });
});
