import type { Webhook } from '../../api/types';
import { countsOf, narrowed, type Wanted } from './narrowed';

const webhook = (id: string, changes: Partial<Webhook>, health = 'healthy', succeeded = 1, failed = 0) =>
  ({
    ...{ id, url: `https://example.com/${id}`, description: null, externalId: null, metadata: {}, events: ['*'] },
    ...{ createdAt: id, lastSuccessAt: null, stats: { health, totals: { succeeded, failed } } },
    ...changes,
  }) as Webhook;

const rows = [
  webhook('a', { description: 'Billing', metadata: { team: 'money' } }),
  webhook('b', { events: ['job.*'], lastSuccessAt: '2026-01-02' }, 'failing', 1, 9),
  webhook('c', { externalId: 'crm-7', events: ['webhook.failing'] }, 'no_traffic', 0, 0),
  webhook('d', { lastSuccessAt: '2026-01-03' }, 'disabled', 1, 1),
];
const ANY: Wanted = { q: '', health: 'all', event: '', label: '', sort: 'health' };
const idsOf = (wanted: Partial<Wanted>) => narrowed(rows, { ...ANY, ...wanted }).map(({ id }) => id);

describe('The list of webhooks', () => {
  it.each([
    ['a description in any case', { q: ' bILL' }, ['a']],
    ['an external id', { q: 'CRM' }, ['c']],
    ['a url', { q: '.com/d' }, ['d']],
    ['a health', { health: 'failing' }, ['b']],
    ['an event by its pattern', { event: 'job.started' }, ['b', 'd', 'a']],
    ['a notice, which * does not cover', { event: 'webhook.failing' }, ['c']],
    ['a label', { label: 'team=money' }, ['a']],
    ['several at once', { event: 'job.started', health: 'healthy' }, ['a']],
    ['nothing', { q: 'nowhere' }, []],
  ] as [string, Partial<Wanted>, string[]][])('is narrowed by %s', (_, wanted, ids) => {
    expect(idsOf(wanted)).toEqual(ids);
  });

  it.each([
    ['health', ['b', 'd', 'a', 'c']],
    ['name', ['a', 'b', 'c', 'd']],
    ['delivered', ['b', 'd', 'a', 'c']],
    ['newest', ['d', 'c', 'b', 'a']],
    ['last', ['d', 'b', 'a', 'c']],
  ] as [Wanted['sort'], string[]][])('is sorted by %s', (sort, ids) => {
    expect(idsOf({ sort })).toEqual(ids);
  });

  it('finds a pull webhook by its name', () => {
    const pulled = narrowed([...rows, webhook('p', { url: null })], { ...ANY, q: 'pull webhook' });
    expect(pulled.map(({ id }) => id)).toEqual(['p']);
  });

  it('counts each health', () => {
    expect(countsOf(rows)).toEqual({ all: 4, failing: 1, disabled: 1, degraded: 0, healthy: 1, no_traffic: 1 });
  });
});
