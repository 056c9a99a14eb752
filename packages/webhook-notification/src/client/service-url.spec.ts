import { queryText, routeUrl, serviceUrl } from './service-url';

describe('serviceUrl', () => {
  it.each([
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://localhost:3000/', 'http://localhost:3000'],
    ['https://example.com/hooks-service/', 'https://example.com/hooks-service'],
    ['https://example.com/hooks-service', 'https://example.com/hooks-service'],
    ['HTTPS://Example.com:443/a/b//', 'https://example.com/a/b'],
  ])('normalizes %s to %s', (given, url) => {
    expect(serviceUrl(given)).toBe(url);
    expect(serviceUrl(new URL(given))).toBe(url);
  });

  it.each([
    [undefined, /needs the url/],
    ['', /needs the url/],
    ['localhost', /needs the url/],
    ['localhost:3000', /must begin with http: or https:, not localhost:/],
    ['ftp://example.com', /must begin with http/],
    ['https://user:password@example.com', /no user, password, query or fragment/],
    ['https://example.com/?a=1', /no user, password, query or fragment/],
    ['https://example.com/#a', /no user, password, query or fragment/],
  ])('refuses %s', (given, message) => {
    expect(() => serviceUrl(given)).toThrow(TypeError);
    expect(() => serviceUrl(given)).toThrow(message);
  });

  it('shows no password', () => {
    expect(() => serviceUrl('https://user:hunter2@example.com')).toThrow(/^(?!.*hunter2)/);
  });
});

describe('routeUrl', () => {
  it('inserts each parameter as one segment of the path', () => {
    const route = '/api/webhooks/{id}/deliveries/{deliveryId}';
    expect(routeUrl('http://a/b', route, { id: '1', deliveryId: 'x/y?z#é' })).toBe(
      'http://a/b/api/webhooks/1/deliveries/x%2Fy%3Fz%23%C3%A9',
    );
  });

  it.each<Record<string, string>>([{}, { id: '' }, { id: '.' }, { id: '..' }, { id: 7 as unknown as string }])(
    'refuses %j',
    (params) => {
      expect(() => routeUrl('http://a', '/api/webhooks/{id}', params)).toThrow(
        new TypeError('/api/webhooks/{id} needs id: a text that is not empty.'),
      );
    },
  );
});

describe('queryText', () => {
  it('repeats the name for each value of a list, and omits undefined values', () => {
    const query = { status: ['failed', 'canceled'], limit: 5, givenUp: true, event: 'a b&c', cursor: undefined };
    expect(queryText(query)).toBe('?status=failed&status=canceled&limit=5&givenUp=true&event=a+b%26c');
    expect([queryText(), queryText({ cursor: undefined }), queryText({ status: [] })]).toEqual(['', '', '']);
  });
});
