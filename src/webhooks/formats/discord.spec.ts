import { discordMessage } from './discord';

const eventOf = (data: unknown, description: string | null = null, event = 'job.started') => ({
  body: JSON.stringify({ id: 'e-1', event, createdAt: '2026-11-24T09:30:00.000Z', data }),
  userId: null,
  description,
});
const contentOf = (...event: Parameters<typeof eventOf>) =>
  (JSON.parse(discordMessage(eventOf(...event))) as { content: string }).content;

describe('discordMessage', () => {
  // https://docs.discord.com/developers/resources/webhook#execute-webhook;
  // allowed_mentions: https://docs.discord.com/developers/resources/message#allowed-mentions-object;
  // flags: https://docs.discord.com/developers/resources/message#message-object-message-flags (SUPPRESS_EMBEDS = 1 << 2)
  it('has exactly these bytes', () => {
    expect(discordMessage(eventOf({ jobId: 7, error: { name: 'E' } }, 'A job has started.'))).toBe(
      String.raw`{"content":"**job\\.started**\nA job has started\\.\n\njobId: 7\nerror\\.name: E\n\n` +
        String.raw`2026\\-11\\-24T09\\:30\\:00\\.000Z · e\\-1","allowed_mentions":{"parse":[]},"flags":4}`,
    );
  });

  it('has neither gap nor description without fields', () => {
    expect(contentOf({})).toBe(
      String.raw`**job\.started**` + '\n\n' + String.raw`2026\-11\-24T09\:30\:00\.000Z · e\-1`,
    );
  });

  it.each([
    // https://support.discord.com/hc/en-us/articles/210298617 (Markdown Text 101)
    ['**bold** *italics*', String.raw`\*\*bold\*\* \*italics\*`],
    ['__underline__ _italics_', String.raw`\_\_underline\_\_ \_italics\_`],
    ['~~strikethrough~~', String.raw`\~\~strikethrough\~\~`],
    ['||spoiler||', String.raw`\|\|spoiler\|\|`],
    ['`code` ```js\u0020block```', '\\`code\\` \\`\\`\\`js block\\`\\`\\`'],
    ['# heading', String.raw`\# heading`],
    ['-# subtext', String.raw`\-\# subtext`],
    ['- list', String.raw`\- list`],
    ['* list', String.raw`\* list`],
    ['1. list', String.raw`1\. list`],
    ['> quote >>> quotes', String.raw`\> quote \>\>\> quotes`],
    ['[bank](https://evil.example)', String.raw`\[bank\]\(https\:\/\/evil\.example\)`],
    ['<https://evil.example>', String.raw`\<https\:\/\/evil\.example\>`],
    ['https://evil.example', String.raw`https\:\/\/evil\.example`],
    ['discord.gg/abc', String.raw`discord\.gg\/abc`],
    [String.raw`\*already\*`, String.raw`\\\*already\\\*`],
    ['back\\', String.raw`back\\`],
    // https://docs.discord.com/developers/reference#message-formatting-formats
    ['@everyone @here', String.raw`\@everyone \@here`],
    ['<@80351110224678912> <@!80351110224678912>', String.raw`\<\@80351110224678912\> \<\@!80351110224678912\>`],
    ['<@&165511591545143296>', String.raw`\<\@&165511591545143296\>`],
    ['<#103735883630395392>', String.raw`\<\#103735883630395392\>`],
    ['</airhorn:816437322781949972>', String.raw`\<\/airhorn\:816437322781949972\>`],
    ['<:mmLol:216154654256398347>', String.raw`\<\:mmLol\:216154654256398347\>`],
    ['<a:b1nzy:392938283556143104>', String.raw`\<a\:b1nzy\:392938283556143104\>`],
    ['<t:1618953630:d>', String.raw`\<t\:1618953630\:d\>`],
    ['<id:customize>', String.raw`\<id\:customize\>`],
    [':smile:', String.raw`\:smile\:`],
  ])('shows %s as text in names, values and descriptions', (text, escaped) => {
    expect(
      contentOf({ [text]: text }, text)
        .split('\n')
        .slice(1, 4),
    ).toEqual([escaped, '', `${escaped}: ${escaped}`]);
  });

  it('escapes the title', () => {
    expect(contentOf({}, null, 'a_b.c_d').split('\n')[0]).toBe(String.raw`**a\_b\.c\_d**`);
  });

  // content: 2000 characters, https://docs.discord.com/developers/resources/webhook#execute-webhook-json/form-params
  it.each([
    ['a', 400, 4, '… and 21 more'],
    ['*', 400, 2, '… and 23 more'],
    ['😀', 200, 4, '… and 21 more'],
    ['a', 10, 20, '… and 5 more'],
  ])('fits 25 values of %j × %d into a message: %d and %j', (character, length, count, more) => {
    const content = contentOf({ values: Array(25).fill(character.repeat(length)) });
    const lines = content.split('\n').slice(2, -2);
    expect(lines).toHaveLength(count + 1);
    expect(lines.at(-1)).toBe(more);
    expect(content.length).toBeLessThanOrEqual(2000);
  });

  it('stays within the limit with values of any length', () => {
    for (let length = 1; length <= 400; length++) {
      const content = contentOf({ values: Array(25).fill('a'.repeat(length)) }, 'x'.repeat(200));
      expect(content.length).toBeLessThanOrEqual(2000);
    }
  });

  it('shows at least one field next to the longest name and description', () => {
    const name = `${'_'.repeat(63)}.${'_'.repeat(64)}`;
    const content = contentOf({ ['*'.repeat(200)]: '*'.repeat(500), b: 1 }, '*'.repeat(500), name);
    expect(content).toContain(`\n\n${'\\*'.repeat(99)}…: ${'\\*'.repeat(399)}…\n`);
    expect(content.length).toBeLessThanOrEqual(2000);
  });
});
