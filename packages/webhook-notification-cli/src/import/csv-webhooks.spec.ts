import { parseCsv } from './csv-records';
import { foundInCsv } from './csv-webhooks';

const found = (text: string, names = new Map<string, string | null>()) => foundInCsv(parseCsv(text), names);

describe('The webhooks of a CSV file', () => {
  it('have what its columns say', () => {
    const text = `externalId,url,events,secret,description,maxPerSecond,disabled,metadata.team,header.X-Key
shop:1, https://a.example/hooks ,invoice.paid invoice-failed, s3cret with blanks ,"Staging, ""new""",2.5,true,billing,k-1
shop:2,https://b.example,*,,,,,,`;
    const names = new Map([['invoice-failed', 'invoice.failed']]);
    expect(found(text, names)).toEqual([
      {
        kind: 'webhook',
        webhook: {
          externalId: 'shop:1',
          url: 'https://a.example/hooks',
          events: ['invoice.failed', 'invoice.paid'],
          // Blanks are a part of a secret.
          secret: ' s3cret with blanks ',
          description: 'Staging, "new"',
          maxPerSecond: 2.5,
          isDisabled: true,
          metadata: { team: 'billing' },
          headers: { 'X-Key': 'k-1' },
          hiddenHeaders: [],
          obstacles: [],
          notes: [],
        },
      },
      {
        kind: 'webhook',
        webhook: expect.objectContaining({
          ...{ externalId: 'shop:2', events: ['*'], secret: undefined, description: null, maxPerSecond: null },
          ...{ isDisabled: false, metadata: {}, headers: {} },
        }) as object,
      },
    ]);
  });

  it('keep their headers when no column is about headers', () => {
    const [only] = found('externalId,url,events\na,https://a.example,*');
    expect(only).toMatchObject({ kind: 'webhook', webhook: { headers: undefined } });
  });

  it.each([
    ['b!,https://a.example,*,', 'externalId must have'],
    ['b,https://a.example,,', 'no event type'],
    ['b,https://a.example,*,yes', 'disabled must be'],
    ['b,https://a.example,*', 'has 3 fields, and the first line 4'],
    ['a,https://a.example,*,', 'an earlier line has the externalId a'],
  ])('are refused one by one with their line: %s', (line, reason) => {
    const all = found(`externalId,url,events,disabled\na,https://a.example,*,\n${line}\nlast,https://a.example,*,`);
    expect(all.map(({ kind }) => kind)).toEqual(['webhook', 'refused', 'webhook']);
    expect(all[1]).toEqual({ kind: 'refused', name: 'line 3', reason: expect.stringContaining(reason) as string });
  });

  it.each([
    ['', 'externalId, url, events is missing'],
    ['externalId,url', 'events is missing'],
    ['externalId,url,events,secrets', 'column secrets'],
    ['externalId,url,events,url', 'column url'],
    ['externalId,url,events,header.', 'column header.'],
  ])('are not read from columns %j', (columns, message) => {
    expect(() => found(`${columns}\n`)).toThrow(message);
  });
});

describe('The secret of a line', () => {
  it.each(['v1,whsec_AAAA', 'whsec_AAAA', 'whsec_not base64'])(
    'is refused when no library would decode it: %s',
    (secret) => {
      const [row] = found(`externalId,url,events,secret\na,https://example.com/,a.b,"${secret}"\n`);
      expect(row).toMatchObject({ kind: 'refused', name: 'line 2', reason: expect.stringMatching(/^its secret must/) });
    },
  );
});
