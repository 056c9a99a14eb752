import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Config } from './config';
import { parseConfig, type SettingFiles } from './settings';

/** Reads the settings from the environment, a `.env` file in the working folder, and the files that these name. */
export function readConfig(): Config {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return parseConfig(process.env, readSettingFiles(process.env));
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
