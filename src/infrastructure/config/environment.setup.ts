import { existsSync } from 'node:fs';
import type { Config } from './config';
import { readSettingFiles } from './setting-files.setup';
import { parseConfig } from './settings';

/**
 * Reads the settings of this process from its environment, a `.env` file in the working folder, and the files that these name.
 * @throws SettingsError with every problem at once
 */
export function readConfig(): Config {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return parseConfig(process.env, readSettingFiles(process.env));
}

/** Reads the secret that `webhooks verify` uses when no file is named. It is not a setting of the service. */
export function readWebhookSecret(): string | undefined {
  return process.env.WEBHOOK_SECRET;
}
