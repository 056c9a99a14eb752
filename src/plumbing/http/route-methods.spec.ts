import { RouteMethods } from './route-methods';

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
    ['/api/events/batch', ['GET', 'POST']],
    ['/docs/a/b.js', ['GET']],
    ['/api/webhooks/', []],
    ['/api/webhooks/1/2', []],
    ['/api/webhook', []],
    ['/', []],
  ])('%s are %j', (path, methods) => {
    expect(routes.of(path)).toEqual(methods);
  });

  it('are those of the path as it is written, whatever it holds', () => {
    routes.add('/a.b/(c', ['GET']);
    expect([routes.of('/a.b/(c'), routes.of('/axb/(c')]).toEqual([['GET'], []]);
  });
});
