import { existsSync } from 'node:fs';
import type { Config } from './config';
import { parseConfig } from './settings';

/**
 * Reads the settings of this process from its environment and a `.env` file in the working folder.
 * @throws SettingsError with every problem at once
 */
export function readConfig(): Config {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return parseConfig(process.env);
}

/** Reads the secret that `webhooks verify` uses when no file is named. It is not a setting of the service. */
export function readWebhookSecret(): string | undefined {
  return process.env.WEBHOOK_SECRET;
}
