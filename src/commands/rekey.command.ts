import { parseArgs } from 'node:util';
import { readConfig } from '../infrastructure/config/environment.setup';
import { connect, migrate } from '../infrastructure/database/migrator.setup';
import { attachStore } from '../store.setup';
import { KeyCheckRepository } from '../webhooks/secrets/key-check.repository';
import { SecretsService } from '../webhooks/secrets/secrets.service';
import { type RekeyReport, RekeyRepository } from '../webhooks/secrets/rekey.repository';

/**
 * Runs `webhooks rekey`: encrypts every stored secret with the first key of `SECRETS_KEY`, while the service runs, and then the
 * check value of the installation. `--force` does so even if some secrets stay encrypted with a lost key.
 */
export async function rekey(args: string[]): Promise<void> {
  const { force } = parseArgs({ args, options: { force: { type: 'boolean', default: false } } }).values;
  const { config, close } = await attachStore(readConfig());
  try {
    await migrate(config.databaseUrl ?? '');
    const client = await connect(config.databaseUrl ?? '');
    try {
      const secrets = new SecretsService(config);
      const done = await new RekeyRepository(client, secrets).rekeyAll();
      report(done);
      const isRenewed = await new KeyCheckRepository(client, secrets).renew(force || done.unreadable.length === 0);
      if (!isRenewed) process.stderr.write(STILL_REFUSED);
    } finally {
      await client.end();
    }
  } finally {
    await close();
  }
}

const STILL_REFUSED =
  'The service does not start with these keys: one of them is missing. If it is lost, run the command with --force.\n';

function report({ reencrypted: renewed, current, unreadable }: RekeyReport): void {
  process.stdout.write(`Re-encrypted: ${renewed}. Already under the first key: ${current}.\n`);
  if (unreadable.length === 0) return;
  process.exitCode = 1;
  process.stderr.write(
    `Left as they are, because no key of SECRETS_KEY decrypts them: secrets of ${unreadable.length} webhooks. ` +
      `Keep their key, or PATCH new secrets:\n${unreadable.map((id) => `  ${id}\n`).join('')}`,
  );
}
