import fc from 'fast-check';
import { patternsOf, unknownPatterns } from './event-pattern';

const KNOWN = ['follower.gained', 'follower.lost', 'job.started', 'shop.order.shipped'];

const part = fc.string({ unit: fc.constantFrom('a', 'B', '_', '0', '-'), minLength: 1, maxLength: 3 });
const names = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));

/** An independent check of whether a pattern subscribes to a name. */
const subscribes = (pattern: string, name: string) =>
  pattern === '*' || pattern === name || (pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -1)));

describe('patternsOf', () => {
  it.each([
    ['follower.gained', ['*', 'follower.*', 'follower.gained']],
    ['shop.order.shipped', ['*', 'shop.*', 'shop.order.*', 'shop.order.shipped']],
    ['invoice', ['*', 'invoice']],
    ['Order-Created.v2', ['*', 'Order-Created.*', 'Order-Created.v2']],
    ['webhook.disabled', ['*', 'webhook.*', 'webhook.disabled']],
    ['webhook.failing', ['webhook.*', 'webhook.failing']],
    ['webhook.healthy', ['webhook.*', 'webhook.healthy']],
  ])('%s returns %p', (name, patterns) => {
    expect(patternsOf(name)).toEqual(patterns);
  });

  it('returns exactly the patterns that subscribe to the event', () => {
    fc.assert(
      fc.property(names, names, fc.nat(3), (name, other, length) => {
        const prefix = `${other.split('.').slice(0, length).join('.')}.*`;
        for (const pattern of [other, prefix, '*']) {
          expect(patternsOf(name).includes(pattern)).toBe(subscribes(pattern, name));
        }
      }),
    );
  });
});

describe('unknownPatterns', () => {
  it.each(['*', 'follower.*', 'follower.gained', 'job.*', 'shop.*', 'shop.order.*', 'shop.order.shipped'])(
    'accepts %s',
    (pattern) => {
      expect(unknownPatterns([pattern], KNOWN)).toEqual([]);
    },
  );

  it.each([
    '',
    '.*',
    '**',
    '*.*',
    '*.gained',
    'follower',
    'follower.',
    'follower.**',
    'follower*',
    'follower.g*',
    'follower.gained.*',
    'Follower.*',
    ' follower.*',
    'order.*',
    'constructor',
  ])('returns %p', (pattern) => {
    expect(unknownPatterns([pattern], KNOWN)).toEqual([pattern]);
  });

  it('returns only the patterns that match nothing, in the given order', () => {
    expect(unknownPatterns(['b.c', 'job.*', 'a.*', '*'], KNOWN)).toEqual(['b.c', 'a.*']);
    expect(unknownPatterns(['*'], [])).toEqual(['*']);
  });
});
