import { isApiRoute } from './api-route';

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
