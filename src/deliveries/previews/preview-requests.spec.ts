import { ApiError } from '../../infrastructure/errors/api-error';
import { parseFilterCheck, parseFormatPreview } from './preview-requests';

const EVENT_ID = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';
const filter = { 'data.amount': { gte: 5 } };

function fieldsOf(parse: (body: unknown) => unknown, body: unknown): string[] {
  try {
    parse(body);
    return [];
  } catch (error) {
    return ((error as ApiError).details ?? []).map(({ field, code }) => `${field}: ${code}`);
  }
}

describe('The body of a filter check', () => {
  it('names a stored event, or contains one', () => {
    const chosen = { eventId: EVENT_ID };
    expect(parseFilterCheck({ filter, eventId: EVENT_ID.toUpperCase() })).toEqual({ filter, chosen });
    const data = JSON.parse('{"__proto__":1,"constructor":2}') as object;
    const request = { filter: null, event: 'a.b', data };
    const contained = { event: 'a.b', data: JSON.stringify(data), subject: null };
    expect(parseFilterCheck(request)).toEqual({ filter: null, chosen: contained });
    const subject = 'invoice/1';
    expect(parseFilterCheck({ ...request, subject })).toEqual({
      ...{ filter: null, chosen: { ...contained, subject } },
    });
  });

  it.each([
    [null, ['body: invalid']],
    [[], ['body: invalid']],
    [{}, ['filter: required', 'event: required', 'data: required']],
    [{ filter: {}, event: 1, data: [] }, ['filter: invalid', 'event: invalid', 'data: invalid']],
    [{ filter, event: 'no name', data: {} }, ['event: invalid']],
    [{ filter, eventId: EVENT_ID, data: {} }, ['eventId: invalid']],
    [{ filter, eventId: EVENT_ID, subject: 'a' }, ['eventId: invalid']],
    [{ filter, event: 'a.b', data: {}, subject: 'a ' }, ['subject: invalid']],
    [{ filter, eventId: 5 }, ['eventId: invalid']],
    [{ filter, eventId: 'x' }, ['eventId: invalid']],
    [{ filter, eventId: EVENT_ID, format: 'slack' }, ['format: unknown_field']],
  ])('must not be %j', (body, fields) => {
    expect(fieldsOf(parseFilterCheck, body)).toEqual(fields);
  });

  it('contains data of at most 64 levels', () => {
    const deep = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`) as object;
    expect(fieldsOf(parseFilterCheck, { filter, event: 'a.b', data: deep(64) })).toEqual([]);
    for (const levels of [65, 20_000])
      expect(fieldsOf(parseFilterCheck, { filter, event: 'a.b', data: deep(levels) })).toEqual(['data: invalid']);
  });
});

describe('The body of a format preview', () => {
  it('names a format', () => {
    expect(parseFormatPreview({ format: 'slack', eventId: EVENT_ID })).toEqual({
      ...{ format: 'slack', paths: null, chosen: { eventId: EVENT_ID } },
    });
    expect(parseFormatPreview({ format: 'payload', fields: ['a.b'], eventId: EVENT_ID })).toMatchObject({
      paths: ['a.b'],
    });
  });

  it.each([
    [{}, ['format: required', 'event: required', 'data: required']],
    [{ format: 'constructor', event: 'a.b', data: {} }, ['format: invalid']],
    [{ format: 'slack', fields: [], event: 'a.b', data: {} }, ['fields: invalid']],
    [{ format: 'native', fields: ['.'], event: 'a.b', data: {} }, ['fields: invalid']],
    [{ format: null, event: 'a.b', data: {}, filter }, ['filter: unknown_field', 'format: invalid']],
  ])('must not be %j', (body, fields) => {
    expect(fieldsOf(parseFormatPreview, body)).toEqual(fields);
  });
});
