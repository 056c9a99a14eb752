import { destinationOf, nameOf } from './webhook-name';

const ID = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';

describe('nameOf', () => {
  it.each([
    [{ description: ' CRM sync ', url: 'https://example.com/hook' }, 'CRM sync'],
    [{ description: null, url: 'https://example.com/hook' }, 'example.com/hook'],
    [{ description: 'Laptop', url: null }, 'Laptop'],
    [{ description: null, url: null }, 'Pull webhook 2c8e90'],
    [{ description: '  ', url: null }, 'Pull webhook 2c8e90'],
  ])('names %o', (webhook, name) => {
    expect(nameOf({ id: ID, ...webhook })).toBe(name);
  });
});

describe('destinationOf', () => {
  it('is the URL, or the name of the pull webhook', () => {
    expect(destinationOf({ webhookId: ID, url: 'https://example.com/hook' })).toBe('https://example.com/hook');
    expect(destinationOf({ webhookId: ID, url: null })).toBe('Pull webhook 2c8e90');
  });
});
