import { ApiError, invalid } from '../../infrastructure/errors/api-error';
import { forEachEvent, MAX_EVENTS, parseBatchRequest } from './publish-request';

describe('The body of a batch', () => {
  it.each([1, 2, MAX_EVENTS])('may contain %i events', (count) => {
    const events = Array.from({ length: count }, (_, i) => ({ event: `event ${i}`, data: {} }));
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

  it('is rejected with up to 20 errors of all its events', () => {
    const attempt = () => parseBatchRequest({ events: Array(30).fill({ event: 1 }) });
    const details = Array.from({ length: 10 }, (_, i) => [
      { field: `events[${i}].event`, code: 'invalid', message: `events[${i}].event must be a string` },
      { field: `events[${i}].data`, code: 'required', message: `events[${i}].data must be a JSON object` },
    ]).flat();
    expect(attempt).toThrow(expect.objectContaining({ details }));
  });

  it('must not have other fields', () => {
    expect(() => parseBatchRequest({ events: [{}], idempotencyKey: 'k' })).toThrow(
      'idempotencyKey is not a known field',
    );
  });
});

describe('The events of a batch', () => {
  const refuse = (message: string) => (): never => {
    throw new ApiError('scope_missing', message);
  };
  const reject = (field: string, message: string) => (): never => {
    throw invalid(field, message);
  };
  const ok = () => 'ok';
  const run = (...actions: (() => string)[]) => forEachEvent(actions, (action) => action());

  it('produce results in order', () => {
    expect(forEachEvent([1, 2, 3], (n) => n * 2)).toEqual([2, 4, 6]);
  });

  it('report their errors with their positions', () => {
    const unnamed = reject('event', 'event must be a string');
    const unknown = reject('event', 'There is no event named "x".');
    const error = (field: string, message: string) => ({ field, code: 'invalid', message });
    expect(() => run(ok, unnamed, ok, unknown)).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        message: 'events[1].event must be a string; events[3]: There is no event named "x".',
        details: [
          error('events[1].event', 'events[1].event must be a string'),
          error('events[3].event', 'events[3]: There is no event named "x".'),
        ],
      }),
    );
  });

  it('report the first code, and only the errors with it', () => {
    const attempt = () => run(ok, refuse('No.'), reject('data', 'data'), refuse('Neither.'));
    expect(attempt).toThrow(
      expect.objectContaining({
        code: 'scope_missing',
        details: undefined,
        message: 'events[1]: No.; events[3]: Neither.',
      }),
    );
  });

  it('report at most ten errors', () => {
    const attempt = () => run(...Array<() => string>(50).fill(reject('data', 'data')));
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
    const events = Array.from({ length: 4 }, (_, i) => i);
    const attempt = () =>
      forEachEvent(events, (i) => {
        if (i === 3) throw invalid('data', message);
      });
    expect(attempt).toThrow(whole);
  });
});
