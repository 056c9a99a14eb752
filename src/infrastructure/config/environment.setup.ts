import { readFileSync, type Stats, statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Config } from './config';
import { misspelledSettings, unknownNames } from './misspelled-settings';
import { parseConfig, type SettingFiles, SettingsError } from './settings';
import { schema, variableOf } from './settings-schema';

/** Reads the settings from the environment, a `.env` file in the working folder, and the files that these name. */
export function readConfig(): Config {
  const env = statSync('.env', { throwIfNoEntry: false });
  if (env) loadEnvFile(env);
  const files = readSettingFiles(process.env);
  const problems = [...misspelledSettings(process.env, NAMES), ...files.problems];
  const config = parseConfig(process.env, { ...files, problems });
  if (config.databaseUrl === null) ignoreLibpqVariables();
  return config;
}

/** Returns the names in `.env` that are no settings, nor those of other programs. */
export function unknownSettings(): string[] {
  if (!statSync('.env', { throwIfNoEntry: false })) return [];
  return unknownNames(Object.keys(parseEnv(readFileSync('.env', 'utf8'))), NAMES);
}

/** A folder is what docker creates for a volume of a file that does not exist; reading a named pipe might never end. */
function loadEnvFile(env: Stats): void {
  const rule = 'must be a file that this process can read: change or remove it';
  if (!env.isFile()) throw new SettingsError([`.env in the working folder ${rule}.`]);
  try {
    process.loadEnvFile('.env');
  } catch {
    throw new SettingsError([`.env in the working folder ${rule}.`]);
  }
}

/** PGSSLMODE and others are for other servers: pg would apply them to the embedded one as well. */
function ignoreLibpqVariables(): void {
  for (const name of Object.keys(process.env)) if (/^PG[A-Z]+$/.test(name)) delete process.env[name];
}

/** Reads the secret that `webhooks verify` uses when no file is named. It is not a setting of the service. */
export function readWebhookSecret(): string | undefined {
  return process.env.WEBHOOK_SECRET;
}

/** The settings that can also be read from a file, whose path is in `<NAME>_FILE`: all that contain a password, a key or a token. */
const SECRETS = [
  ...['DATABASE_URL', 'REDIS_URL', 'MONITORED_QUEUES_REDIS_URL', 'SECRETS_KEY', 'BOOTSTRAP_TOKEN'],
  'EGRESS_PROXY',
];

/** The variable with the path of a file, by the setting that the file contains. */
const VARIABLES: [setting: string, variable: string][] = [
  ...SECRETS.map((name): [string, string] => [name, `${name}_FILE`]),
  ['EGRESS_CA_FILE', 'EGRESS_CA_FILE'],
];

/** Every variable that is a setting. */
const NAMES = [...Object.keys(schema.shape).map(variableOf), ...VARIABLES.map(([, variable]) => variable)];

const MAX_BYTES = 64 * 1024;

/** Reads the files that an environment names. An empty path means "not set". */
export function readSettingFiles(environment: Readonly<Record<string, string | undefined>>): SettingFiles {
  const values: Record<string, string | null> = {};
  const problems: string[] = [];
  for (const [setting, variable] of VARIABLES) {
    const path = environment[variable];
    if (!path) continue;
    const result = readValue(path);
    values[setting] = typeof result === 'string' ? null : result.value;
    if (setting !== variable && environment[setting])
      problems.push(`${variable} cannot be set together with ${setting}.`);
    else if (typeof result === 'string') problems.push(`${variable} must be ${result}.`);
  }
  return { values, problems };
}

/** Returns the content of a file without one newline at its end, or the rule that its path must fulfill. */
function readValue(path: string): { value: string } | string {
  try {
    const status = statSync(path);
    if (!status.isFile()) return 'the path of a file';
    if (status.size > MAX_BYTES) return 'the path of a file of at most 64 KiB';
    const value = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    return value === '' ? 'the path of a file that is not empty' : { value };
  } catch {
    return 'the path of a file that this process can read';
  }
}
