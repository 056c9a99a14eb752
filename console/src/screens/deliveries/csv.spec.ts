import type { Delivery } from '../../api/types';
import { csvOf } from './csv';

const row = (changes: Partial<Delivery>): Delivery => ({
  ...{
    id: 'd1',
    webhookId: 'w1',
    eventId: 'e1',
    event: 'job.started',
    subject: null,
    url: 'https://example.com/',
    attempt: 1,
  },
  ...{ trigger: 'event', status: 'succeeded', waitsFor: null, responseStatus: 200, durationMs: 12, error: null },
  ...{ scheduledAt: 's', attemptedAt: 'a', completedAt: 'c', nextAttemptAt: null, createdAt: 'n' },
  ...changes,
});

describe('csvOf', () => {
  it('has a line of names, and one for each attempt', () => {
    expect(csvOf([row({})])).toBe(
      'id,eventId,event,subject,webhookId,url,trigger,attempt,status,responseStatus,errorCode,errorMessage,durationMs,createdAt,' +
        'scheduledAt,attemptedAt,completedAt,nextAttemptAt\r\n' +
        'd1,e1,job.started,,w1,https://example.com/,event,1,succeeded,200,,,12,n,s,a,c,\r\n',
    );
  });

  it.each([
    ['invoice/123 🧾', 'invoice/123 🧾'],
    ['50 % "off", now', '"50 % ""off"", now"'],
    ['=1+1', "'=1+1"],
  ])('has the subject %j', (subject, cell) => {
    expect(csvOf([row({ subject })])).toContain(`d1,e1,job.started,${cell},w1,`);
  });

  it.each([
    ['a "quoted", b', '"a ""quoted"", b"'],
    ['two\nlines', '"two\nlines"'],
    ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
    ['@sum', "'@sum"],
    ['-1', "'-1"],
  ])('writes %j so that nothing computes or breaks it', (message, cell) => {
    expect(csvOf([row({ error: { code: 'internal', message } as Delivery['error'] })])).toContain(
      `,internal,${cell},12,`,
    );
  });
});
