import {
  isDatabaseReadOnly,
  isDatabaseUnavailable,
  isForeignKeyViolation,
  isLocked,
  isRefusedValue,
  LockedError,
} from './database-error';

const withCode = (code: string, message = '') => Object.assign(new Error(message), { code });

describe('PostgreSQL is unavailable', () => {
  it.each([
    ['connection_exception', '08000'],
    ['connection_does_not_exist', '08003'],
    ['connection_failure', '08006'],
    ['sqlclient_unable_to_establish_sqlconnection', '08001'],
    ['read_only_sql_transaction', '25006'],
    ['too_many_connections', '53300'],
    ['disk_full', '53100'],
    ['io_error', '58030'],
    ['query_canceled', '57014'],
    ['admin_shutdown', '57P01'],
    ['crash_shutdown', '57P02'],
    ['cannot_connect_now', '57P03'],
  ])('when it says %s (%s)', (_, code) => {
    expect(isDatabaseUnavailable(withCode(code))).toBe(true);
  });

  it.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
  ])('when the system reports %s', (code) => {
    expect(isDatabaseUnavailable(withCode(code, `connect ${code}`))).toBe(true);
  });

  it.each([
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error and is not queryable',
  ])('when pg reports "%s"', (message) => {
    expect(isDatabaseUnavailable(new Error(message))).toBe(true);
  });
});

describe('PostgreSQL is available', () => {
  it.each([
    ['unique_violation', '23505'],
    ['invalid_text_representation', '22P02'],
    ['undefined_table', '42P01'],
    ['deadlock_detected', '40P01'],
    ['serialization_failure', '40001'],
    ['out_of_memory', '53200'],
    ['internal_error', 'XX000'],
  ])('when it says %s (%s)', (_, code) => {
    expect(isDatabaseUnavailable(withCode(code))).toBe(false);
  });

  it.each([null, undefined, 'ECONNREFUSED', { code: '08006' }, new TypeError('x is undefined'), withCode('EACCES')])(
    'when the error is of another kind: %p',
    (error) => {
      expect(isDatabaseUnavailable(error)).toBe(false);
    },
  );
});

describe('PostgreSQL is read-only', () => {
  const refusals = [withCode('25006'), new Error('Connection terminated: The database takes no writes.')];

  it.each(refusals)('when it says %s', (error) => {
    expect([isDatabaseReadOnly(error), isDatabaseUnavailable(error)]).toEqual([true, true]);
  });

  it.each([null, { code: '25006' }, withCode('25001'), new Error('Connection terminated')])('but not: %p', (error) => {
    expect(isDatabaseReadOnly(error)).toBe(false);
  });
});

describe('An error of PostgreSQL', () => {
  const withCode = (code: string) => Object.assign(new Error('refused'), { code });

  it.each(['22021', '22P05', '22P02', '22003', '22007', '22008'])(
    'with %s means an invalid value in the request',
    (code) => {
      expect(isRefusedValue(withCode(code))).toBe(true);
    },
  );

  it.each(['22012', '23505', '42601', '08006', ''])('with %j does not mean an invalid value', (code) => {
    expect(isRefusedValue(withCode(code))).toBe(false);
  });

  it('with 55P03 or 40P01 means that another transaction held a lock', () => {
    for (const error of [withCode('55P03'), withCode('40P01'), new LockedError()]) {
      expect([isLocked(error), isDatabaseUnavailable(error)]).toEqual([true, false]);
    }
    for (const other of [withCode('57014'), null, 'text', undefined]) expect(isLocked(other)).toBe(false);
  });

  it('with 23503 means a reference to a missing row', () => {
    expect(isForeignKeyViolation(withCode('23503'))).toBe(true);
    for (const other of [withCode('23505'), null, 'text', undefined]) expect(isForeignKeyViolation(other)).toBe(false);
  });
});
