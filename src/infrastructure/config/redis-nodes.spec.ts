import { isRedisCluster, parseRedisUrl, parseSentinels, readCluster } from './redis-nodes';

describe('parseRedisUrl', () => {
  it.each([
    'redis://cache.example',
    'redis://cache.example:6380/1',
    'rediss://user:secret@cache.example?family=6',
    'redis://a.example,redis://b.example:6380',
    'rediss://:s%2Cecret@a.example/0,rediss://:s%2Cecret@b.example',
    'redis://[2001:db8::1]:7000,redis://[2001:db8::2]:7000',
    'redis+sentinel://a.example/main',
    'rediss+sentinel://user:s%2Cecret@a.example:26380,b.example,[2001:db8::1]:7000/my-main.1?db=2&sentinelPassword=x',
  ])('accepts %s', (text) => {
    expect(parseRedisUrl(text)).toBe(text);
  });

  it.each([
    '',
    ',',
    'redis://',
    'cache.example:6379',
    'http://cache.example',
    'redis://cache.example:99999',
    'redis://cache.example,',
    'redis://a.example,b.example',
    'redis://a.example,rediss://b.example',
    'redis://:one@a.example,redis://:other@b.example',
    'redis://a.example/1,redis://b.example/1',
    'redis://a.example,redis://b.example?family=6',
    'redis://:pass,word@a.example',
    'redis://:%ff@a.example',
    'redis+sentinel://a.example',
    'redis+sentinel://a.example/',
    'redis+sentinel:///main',
    'redis+sentinel://a.example,/main',
    'redis+sentinel://a.example:99999/main',
    'redis+sentinel://a.example/main/1',
    'redis+sentinel://a.example/main?db=x',
    'redis+sentinel://a.example/main?family=6',
    'redis+sentinel://:p@a.example,:p@b.example/main',
    'redis+sentinel://:%zz@a.example/main',
    'redis+sentinel://:pass,word@a.example/main',
    'redis+sentinel://a.example/main,redis+sentinel://b.example/main',
    'http+sentinel://a.example/main',
  ])('rejects %p', (text) => {
    expect(parseRedisUrl(text)).toBeNull();
  });

  it('treats several nodes as a cluster, even when one address stands for all of them', () => {
    const [one, several, twice] = ['redis://a', ' redis://a , redis://b ', 'redis://a,redis://a'].map(parseRedisUrl);
    expect(several).toBe('redis://a,redis://b');
    expect([null, one, several, twice].map((url) => isRedisCluster(url ?? null))).toEqual([false, false, true, true]);
    expect(isRedisCluster('redis+sentinel://a,b/main')).toBe(false);
  });
});

describe('parseSentinels', () => {
  it('returns Sentinels, and the master with its credentials', () => {
    const text = 'rediss+sentinel://us%40er:p%2Css@a.example:5000,[2001:db8::1]/main?db=3&sentinelPassword=s%26t';
    expect(parseSentinels(text)).toEqual({
      nodes: [
        { host: 'a.example', port: 5000 },
        { host: '2001:db8::1', port: 26379 },
      ],
      master: 'main',
      database: 3,
      username: 'us@er',
      password: 'p,ss',
      sentinelPassword: 's&t',
      isSecure: true,
    });
    expect(parseSentinels('redis+sentinel://a/main')).toEqual({
      nodes: [{ host: 'a', port: 26379 }],
      master: 'main',
      database: 0,
      isSecure: false,
    });
  });
});

describe('readCluster', () => {
  it('parses and decodes the URLs', () => {
    expect(readCluster('rediss://us%40er:p%2Css@a.example,rediss://us%40er:p%2Css@[2001:db8::1]:7000')).toEqual({
      nodes: [
        { host: 'a.example', port: 6379 },
        { host: '2001:db8::1', port: 7000 },
      ],
      username: 'us@er',
      password: 'p,ss',
      isSecure: true,
    });
  });

  it('requires no credentials', () => {
    expect(readCluster('redis://a:7000,redis://b:7001')).toEqual({
      nodes: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 7001 },
      ],
      isSecure: false,
    });
  });
});
