import { nextLink } from './mastodon-provider.client';

const PAGE = new URL('https://social.example/api/v1/accounts/7/followers?limit=80');
const next = (header: string | string[] | undefined) => nextLink(header, PAGE)?.href ?? null;

describe('nextLink', () => {
  it.each([
    [`<${PAGE.href}&max_id=9>; rel="next", <${PAGE.href}&since_id=3>; rel="prev"`, `${PAGE.href}&max_id=9`],
    [`<${PAGE.href}&since_id=3>; rel="prev", <${PAGE.href}&max_id=9>; rel="next"`, `${PAGE.href}&max_id=9`],
    ['</page?a=1,2;3>; title="a, b; rel=x"; rel=next', 'https://social.example/page?a=1,2;3'],
    ['<?max_id=4>;REL="last NEXT"', 'https://social.example/api/v1/accounts/7/followers?max_id=4'],
    ['</page?a=1#again>; rel=next', 'https://social.example/page?a=1'],
    ['<https://elsewhere.example/>; rel="next"', 'https://elsewhere.example/'],
  ])('finds it in %s', (header, url) => {
    expect(next(header)).toBe(url);
  });

  it('finds it in the second of two headers', () => {
    expect(next(['</a>; rel="prev"', '</b>; rel="next"'])).toBe('https://social.example/b');
  });

  it.each([undefined, '', '</a>; rel="prev"', '</a>', 'next', '<https://[>; rel="next"', '</a>; title="rel=next"'])(
    'finds none in %s',
    (header) => {
      expect(next(header)).toBeNull();
    },
  );

  it('parses a hostile header quickly', () => {
    const before = process.cpuUsage();
    next(`<a>${'; a="'.repeat(3000)}`);
    next(`${'<'.repeat(16_000)}`);
    next(`<a>${' ;a'.repeat(5000)}`);
    // Microseconds of a core, which others may take away meanwhile.
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });
});
