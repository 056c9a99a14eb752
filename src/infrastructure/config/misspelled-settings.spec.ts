import { readFileSync } from 'node:fs';
import { misspelledSettings, unknownNames } from './misspelled-settings';
import { schema, variableOf } from './settings-schema';

const SETTINGS = [...Object.keys(schema.shape).map(variableOf), 'DATABASE_URL_FILE', 'SECRETS_KEY_FILE'];
const problemsOf = (environment: Record<string, string>) => misspelledSettings(environment, SETTINGS);

describe('A variable that is almost a setting', () => {
  it.each([
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_ULR', 'DATABASE_URL'],
    ['DATABASEURL', 'DATABASE_URL'],
    ['REDIS_URI', 'REDIS_URL'],
    ['ALOWED_NETWORK', 'ALLOWED_NETWORKS'],
    ['SECRETS_KEY_FLIE', 'SECRETS_KEY_FILE'],
    ['DELIVERY_TIMEOUT_SM', 'DELIVERY_TIMEOUT_MS'],
    ['LOG_LEVELL', 'LOG_LEVEL'],
  ])('%s stops the start, which names %s', (name, meant) => {
    expect(problemsOf({ [name]: 'x' })).toEqual([
      `${name} is no setting. Rename it to ${meant} if you mean that, or else remove it.`,
    ]);
  });

  it.each(SETTINGS.filter((name) => name.replaceAll('_', '').length >= 8))(
    '%s is found with any one or two edits',
    (name) => {
      const other = [
        ...Array.from(name, (_, i) => name.slice(0, i) + name.slice(i + 1)),
        ...Array.from(name, (_, i) => `${name.slice(0, i)}XX${name.slice(i)}`),
        ...Array.from(name.slice(1), (_, i) => `${name.slice(0, i)}${name[i + 1]}${name[i]}${name.slice(i + 2)}`),
      ].filter((text) => !SETTINGS.includes(text));
      expect(other.filter((text) => problemsOf({ [text]: 'x' }).length === 0)).toEqual(
        name === 'SECRETS_KEY' ? ['SECRET_KEY'] : name === 'LOG_LEVEL' ? ['LOGLEVEL'] : [],
      );
    },
  );

  it.each<[string, string?]>(
    [
      ...[
        'HOME',
        'HOSTNAME',
        'PATH',
        'PWD',
        'OLDPWD',
        'SHELL',
        'TERM',
        'USER',
        'LANG',
        'LC_ALL',
        'TZ',
        'LOGNAME',
        'SHLVL',
        'PORTS',
        'POST',
        'RULE',
      ],
      ...[
        'NODE_ENV',
        'NODE_OPTIONS',
        'INIT_CWD',
        'npm_config_loglevel',
        'npm_package_name',
        'no_proxy',
        'http_proxy',
        'HTTP_PROXY',
      ],
      ...[
        'HTTPS_PROXY',
        'ALL_PROXY',
        'GOPROXY',
        'GOPATH',
        'JAVA_HOME',
        'PGHOST',
        'PGPORT',
        'PGDATA',
        'DOCKER_HOST',
        'CI',
        'GITHUB_TOKEN',
      ],
      ...[
        'REDIS_HOST',
        'REDIS_PORT',
        'REDIS_TLS_URL',
        'DATABASE_HOST',
        'DATABASE_NAME',
        'DATABASE_USER',
        'DB_URL',
        'MYSQL_URL',
      ],
      ...[
        'KUBERNETES_SERVICE_HOST',
        'KUBERNETES_PORT',
        'KUBERNETES_PORT_443_TCP_ADDR',
        'REDIS_SERVICE_PORT',
        'DYNO',
        'WEBHOOKS_URL',
      ],
      ...[
        'SECRET_KEY',
        'LOGLEVEL',
        'AUTH0_ISSUER',
        'OAUTH_ISSUER',
        'AWS_SECRET_ACCESS_KEY',
        'SSL_CERT_FILE',
        'XDG_DATA_DIRS',
        'DATADIR',
      ],
    ]
      .map((name): [string] => [name])
      .concat([
        ['METRIC_PORT', 'tcp://10.0.0.1:80'],
        ['DATABSE_URL', ''],
      ] as never),
  )('%s never does', (name, value = 'x') => {
    expect(problemsOf({ [name]: value })).toEqual([]);
  });

  it('is not the setting itself on Windows, whose variables have no case', () => {
    expect(problemsOf({ DATABASE_URl: 'x' })).toHaveLength(1);
    expect(problemsOf({ DATABASE_URl: 'x', DATABASE_URL: 'x' })).toEqual([]);
  });
});

describe('The names in a .env file', () => {
  it('are settings, or those of docker-compose.yml, the commands and other programs', () => {
    const compose = Array.from(
      readFileSync('docker-compose.yml', 'utf8').matchAll(/\$\{(\w+)/g),
      ([, name = '']) => name,
    );
    const known = ['WEBHOOKS_TOKEN', 'NODE_OPTIONS', 'OTEL_SERVICE_NAME', 'COMPOSE_FILE', 'PGSSLMODE', 'no_proxy'];
    expect(compose).toContain('POSTGRES_PASSWORD');
    expect(unknownNames([...SETTINGS, ...compose, ...known, 'DATA', 'HOSTT'], SETTINGS)).toEqual(['DATA', 'HOSTT']);
  });
});
