import { Client } from 'pg';
import { readConfig } from '../infrastructure/config/environment.setup';
import { migrate } from '../infrastructure/database/migrator.setup';
import { attachStore } from '../store.setup';
import { SecretsService } from '../webhooks/secrets/secrets.service';
import { type RekeyReport, RekeyRepository } from '../webhooks/secrets/rekey.repository';

/** Runs `webhooks rekey`: encrypts every stored secret with the first key of `SECRETS_KEY`, while the service runs. */
export async function rekey(): Promise<void> {
  const { config, close } = await attachStore(readConfig());
  try {
    await migrate(config.databaseUrl ?? '');
    const client = new Client({ connectionString: config.databaseUrl ?? '' });
    await client.connect();
    try {
      report(await new RekeyRepository(client, new SecretsService(config)).rekeyAll());
    } finally {
      await client.end();
    }
  } finally {
    await close();
  }
}

function report({ reencrypted: renewed, current, unreadable }: RekeyReport): void {
  process.stdout.write(`Re-encrypted: ${renewed}. Already under the first key: ${current}.\n`);
  if (unreadable.length === 0) return;
  process.exitCode = 1;
  process.stderr.write(
    `Left as they are, because no key of SECRETS_KEY decrypts them: secrets of ${unreadable.length} webhooks. ` +
      `Keep their key, or PATCH new secrets:\n${unreadable.map((id) => `  ${id}\n`).join('')}`,
  );
}
