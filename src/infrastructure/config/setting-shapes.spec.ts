import { parseConfig, SettingsError } from './settings';

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    parseConfig(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

describe('DATABASE_URL', () => {
  it.each([
    'u:p@/db?host=/var/run/postgresql',
    '/db?user=u&host=/var/run/postgresql',
    'u:p@/db?host=%2Fvar%2Frun&port=5433',
  ])('accepts a socket, postgres://%s', (rest) => {
    expect(parseConfig({ DATABASE_URL: `postgres://${rest}`, SECRETS_KEY }).databaseUrl).toBe(`postgres://${rest}`);
  });

  const ENCODE = 'must have the characters @ / ? # of its password written as %40 %2F %3F %23.';
  it.each([
    'u:p@canary@h/db',
    'u:pa/canary@h/db',
    'u:1/canary@h/db',
    'u:1?canary@h/db',
    'u:p#canary@h/db',
    'u:@@h:5432/canary',
  ])('and other URLs say how to write a password as in %s', (rest) => {
    const problems = [
      ...problemsOf({ DATABASE_URL: `postgres://${rest}`, SECRETS_KEY }),
      ...problemsOf({ REDIS_URL: `redis://${rest}` }),
      ...problemsOf({ MONITORED_QUEUES_REDIS_URL: `rediss://h:6379,redis://${rest}` }),
      ...problemsOf({ EGRESS_PROXY: `http://${rest}` }),
    ];
    for (const name of ['DATABASE_URL', 'REDIS_URL', 'MONITORED_QUEUES_REDIS_URL', 'EGRESS_PROXY']) {
      expect(problems).toContain(`${name} ${ENCODE}`);
    }
    expect(problems.join()).not.toContain('canary');
  });

  it.each(['u:p%40@h/db?application_name=a@b', 'h/db?application_name=a@b', 'h:5432?user=a@b'])(
    'has nothing to say of %s',
    (rest) => {
      expect(parseConfig({ DATABASE_URL: `postgres://${rest}`, SECRETS_KEY }).databaseUrl).toContain(rest);
    },
  );
});
