import { typeScriptOf } from './type-script';

describe('The name of a type in TypeScript', () => {
  it.each([
    ['invoice.paid', 'InvoicePaid'],
    ['Order-created.v2', 'OrderCreatedV2'],
    ['invoice', 'Invoice'],
    ['7', 'Event7'],
    ['-', 'Event'],
  ])('of %s is %s', (name, expected) => {
    expect(typeScriptOf(name, {})).toBe(`export interface ${expected} { [key: string]: unknown }\n`);
  });
});
