import { isApiRoute, RouteMethods } from './route-methods';

describe('A route of the API', () => {
  it.each([
    ['/api/webhooks/:webhookId', true],
    ['/api/events', true],
    ['/health/ready', false],
    ['/docs/openapi.json', false],
    ['/apitite', false],
    [undefined, false],
  ])('%s: %s', (url, expected) => {
    expect(isApiRoute(url)).toBe(expected);
  });
});

describe('The methods of a path', () => {
  const routes = new RouteMethods();
  routes.add('/api/webhooks', ['GET']);
  routes.add('/api/webhooks', ['POST']);
  routes.add('/api/webhooks/:id', ['PATCH', 'DELETE']);
  routes.add('/api/events/:id', ['GET']);
  routes.add('/api/events/batch', ['POST']);
  routes.add('/docs/*', ['GET']);

  it.each([
    ['/api/webhooks', ['GET', 'POST']],
    ['/api/webhooks/1', ['DELETE', 'PATCH']],
    ['/api/events/batch', ['POST']],
    ['/api/events/batches', ['GET']],
    ['/api/events/:id', ['GET']],
    ['/docs/a/b.js', ['GET']],
    ['/api/webhooks/', []],
    ['/api/webhooks/1/2', []],
    ['/api/webhook', []],
    ['/', []],
  ])('%s are %j', (path, methods) => {
    expect(routes.of(path)).toEqual(methods);
  });

  it('exclude those that only a path with a parameter has, when the path has its own route', () => {
    expect(routes.isForeign('/api/events/batch', 'GET')).toBe(true);
    expect(routes.isForeign('/api/events/batch', 'POST')).toBe(false);
    expect(routes.isForeign('/api/events/1', 'POST')).toBe(false);
  });

  it('are those of the path as written, whatever it contains', () => {
    routes.add('/a.b/(c', ['GET']);
    expect([routes.of('/a.b/(c'), routes.of('/axb/(c')]).toEqual([['GET'], []]);
  });
});
