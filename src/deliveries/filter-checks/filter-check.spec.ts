import { ApiError } from '../../infrastructure/errors/api-error';
import { parseFilterCheck } from './filter-check';

const EVENT_ID = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';
const filter = { 'data.amount': { gte: 5 } };

function fieldsOf(body: unknown): string[] {
  try {
    parseFilterCheck(body);
    return [];
  } catch (error) {
    return ((error as ApiError).details ?? []).map(({ field, code }) => `${field}: ${code}`);
  }
}

describe('The body of a filter check', () => {
  it('names a stored event, or contains one', () => {
    expect(parseFilterCheck({ filter, eventId: EVENT_ID.toUpperCase() })).toEqual({ filter, eventId: EVENT_ID });
    const data = JSON.parse('{"__proto__":1,"constructor":2}') as object;
    expect(parseFilterCheck({ filter: null, event: 'a.b', data })).toEqual({ filter: null, event: 'a.b', data });
  });

  it.each([
    [null, ['body: invalid']],
    [[], ['body: invalid']],
    [{}, ['filter: required', 'event: required', 'data: required']],
    [{ filter: {}, event: 1, data: [] }, ['filter: invalid', 'event: invalid', 'data: invalid']],
    [{ filter, eventId: EVENT_ID, data: {} }, ['eventId: invalid']],
    [{ filter, eventId: 5 }, ['eventId: invalid']],
    [{ filter, eventId: 'x' }, ['eventId: invalid']],
    [{ filter, eventId: EVENT_ID, userId: 'x' }, ['userId: unknown_field']],
  ])('must not be %j', (body, fields) => {
    expect(fieldsOf(body)).toEqual(fields);
  });
});
