import { isRedisCluster, parseRedisUrl, readCluster } from './redis-nodes';

describe('parseRedisUrl', () => {
  it.each([
    'redis://cache.example',
    'redis://cache.example:6380/1',
    'rediss://user:secret@cache.example?family=6',
    'redis://a.example,redis://b.example:6380',
    'rediss://:s%2Cecret@a.example/0,rediss://:s%2Cecret@b.example',
    'redis://[2001:db8::1]:7000,redis://[2001:db8::2]:7000',
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
  ])('rejects %p', (text) => {
    expect(parseRedisUrl(text)).toBeNull();
  });

  it('treats several nodes as a cluster, even when one address stands for all of them', () => {
    const [one, several, twice] = ['redis://a', ' redis://a , redis://b ', 'redis://a,redis://a'].map(parseRedisUrl);
    expect(several).toBe('redis://a,redis://b');
    expect([null, one, several, twice].map((url) => isRedisCluster(url ?? null))).toEqual([false, false, true, true]);
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
