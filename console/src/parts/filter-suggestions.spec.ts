import type { EventType, Webhook } from '../api/types';
import { suggestionsOf } from './filter-suggestions';

const known = {
  types: [{ name: 'job.started' }, { name: 'job.completed' }, { name: 'follower.gained' }] as EventType[],
  webhooks: [{ id: 'w1', description: 'CRM sync', url: 'https://crm.example/hook' }] as Webhook[],
};
const found = (text: string) => suggestionsOf(text, known).map(({ name, value }) => `${name}=${value}`);

describe('suggestionsOf', () => {
  it.each([
    ['follower', ['event=follower.gained']],
    ['JOB', ['event=job.started', 'event=job.completed']],
    ['crm', ['webhookId=w1']],
    ['500', ['responseStatus=500']],
    ['answer: 5', ['responseStatus=5xx']],
    ['error:time', ['error=timeout']],
    ['webhook:crm', ['webhookId=w1']],
    ['since: 2026-01-02T03:04:05Z', ['since=2026-01-02T03:04:05.000Z']],
    ['since: yesterday', []],
    ['event:nothing like it', []],
    ['Invoice 7/A', ['subject=Invoice 7/A']],
    ['subject: job', ['subject=job']],
    ['subject:', []],
    ['unknown:job', ['subject=unknown:job']],
  ])('takes %p for %p', (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  it('offers some of everything for an empty text, and at most eight', () => {
    expect(found('')).toHaveLength(8);
    expect(found('')).toContain('webhookId=w1');
  });
});
