import { ApiError } from '../../infrastructure/errors/api-error';
import { forEachEvent, MAX_EVENTS, parseBatchRequest, placed } from './batch-request';

describe('The body of a batch', () => {
  it.each([1, 2, MAX_EVENTS])('may contain %i events', (count) => {
    const events = Array.from({ length: count }, (_, i) => ({ event: `event ${i}` }));
    expect(parseBatchRequest({ events })).toEqual(events);
  });

  it.each([undefined, null, 5, 'text', [], {}, { events: null }, { events: {} }, { events: [] }])(
    'must not be %j',
    (body) => {
      expect(() => parseBatchRequest(body)).toThrow(/1 to 100/);
    },
  );

  it('contains at most 100 events', () => {
    expect(() => parseBatchRequest({ events: Array(MAX_EVENTS + 1).fill({}) })).toThrow(/1 to 100/);
  });

  it('must not have other fields', () => {
    expect(() => parseBatchRequest({ events: [{}], idempotencyKey: 'k' })).toThrow(
      'idempotencyKey is not a known field',
    );
  });
});

describe('The events of a batch', () => {
  const refuse = (status: 400 | 403, message: string) => (): never => {
    throw new ApiError(status, message);
  };
  const ok = () => 'ok';
  const run = (...actions: (() => string)[]) => forEachEvent(actions, (action) => action());

  it('produce results in order', () => {
    expect(forEachEvent([1, 2, 3], (n) => n * 2)).toEqual([2, 4, 6]);
  });

  it('report their errors with their positions', () => {
    const invalid = refuse(400, 'event must be a string; data must be a JSON object');
    expect(() => run(ok, invalid, ok, refuse(400, 'There is no event named "x".'))).toThrow(
      new ApiError(
        400,
        'events[1].event must be a string; events[1].data must be a JSON object; events[3]: There is no event named "x".',
      ),
    );
  });

  it('report the first status, and only the errors with it', () => {
    const attempt = () => run(ok, refuse(403, 'No.'), refuse(400, 'data'), refuse(403, 'Neither.'));
    expect(attempt).toThrow(expect.objectContaining({ status: 403, message: 'events[1]: No.; events[3]: Neither.' }));
  });

  it('report at most ten errors', () => {
    const attempt = () => run(...Array<() => string>(50).fill(refuse(400, 'data')));
    expect(attempt).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^(events\[\d]\.data(; |$)){10}$/) }),
    );
  });

  it('pass other errors through unchanged', () => {
    const bug = new TypeError('a bug');
    expect(() =>
      forEachEvent([1], () => {
        throw bug;
      }),
    ).toThrow(bug);
  });
});

describe('The position of an error', () => {
  it.each([
    ['data.jobId must be string', 'events[3].data.jobId must be string'],
    ['data is larger than it may be.', 'events[3].data is larger than it may be.'],
    ['more is not a known field', 'events[3].more is not a known field'],
    ['Something is wrong.', 'events[3]: Something is wrong.'],
    ['webhook.disabled is reserved.', 'events[3]: webhook.disabled is reserved.'],
  ])('is prepended to "%s"', (message, whole) => {
    expect(placed(3, message)).toBe(whole);
  });
});
