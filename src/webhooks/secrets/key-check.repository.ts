import type { Client } from 'pg';
import { keyIdIn } from './secret-box';
import type { SecretsService } from './secrets.service';

const READ = 'select secrets_check as "check" from webhook_service.installation';
/** Of two processes with different keys, only the first one sets the check value. */
const LOCK = `${READ} for update`;
const SET = 'update webhook_service.installation set secrets_check = $1';

const KEY_ID = `encode(substring(secret for 4), 'hex')`;
/** The keys that encrypt stored secrets, the most used first. Reads all webhooks, but only until there is a check value. */
const USED_KEYS = `
  select ${KEY_ID} as "keyId" from webhook_service.webhooks group by 1 order by count(*) desc`;
const ENCRYPTED_WITH = `
  select id, secret from webhook_service.webhooks where ${KEY_ID} = any($1) order by id desc limit 1000`;

/**
 * The check value of the installation. The first key of the first process seals it, and keys that do not open it are those of another
 * installation: with them no delivery could be signed.
 */
export class KeyCheckRepository {
  constructor(
    private readonly client: Client,
    private readonly secrets: SecretsService,
  ) {}

  /**
   * Seals the check value if there is none, but beside stored secrets only with keys that open one of them.
   * @throws Error for the operator when the keys do not open it
   */
  async requireKeys(): Promise<void> {
    const isSealed = (await this.read(READ)) !== null;
    if (!isSealed) await this.locked(async (check) => check === null && this.requireStoredKey());
    const check = await this.read(READ);
    if (check !== null && this.secrets.opensCheck(check)) return;
    throw this.missing([keyIdIn(Buffer.from(check ?? '', 'base64')).toString('hex')]);
  }

  /** Seals the check value under the first key if the keys open the current one, or if `isForced`. Returns whether it did. */
  renew(isForced: boolean): Promise<boolean> {
    return this.locked(async (check) => isForced || (check !== null && this.secrets.opensCheck(check)));
  }

  /** Sets the check value if `decide` returns true, and returns that result. */
  private async locked(decide: (check: string | null) => Promise<boolean>): Promise<boolean> {
    await this.client.query('begin');
    try {
      const isSet = await decide(await this.read(LOCK));
      if (isSet) await this.client.query(SET, [this.secrets.sealCheck()]);
      await this.client.query('commit');
      return isSet;
    } catch (error) {
      await this.client.query('rollback').catch(() => undefined);
      throw error;
    }
  }

  private async read(text: string): Promise<string | null> {
    const { rows } = await this.client.query<{ check: string | null }>(text);
    return rows[0]?.check ?? null;
  }

  private async requireStoredKey(): Promise<true> {
    const used = (await this.client.query<{ keyId: string }>(USED_KEYS)).rows.map(({ keyId }) => keyId);
    if (used.length === 0) return true;
    const { rows } = await this.client.query<{ id: string; secret: Buffer }>(ENCRYPTED_WITH, [this.secrets.keyIds()]);
    if (rows.some(({ id, secret }) => this.secrets.open(id, secret) !== null)) return true;
    throw this.missing(used);
  }

  private missing(keyIds: readonly string[]): Error {
    const given = this.secrets.keyIds();
    return new Error(
      `SECRETS_KEY does not decrypt the secrets of this installation, so nothing could be delivered. Missing: ${named(keyIds)}. ` +
        `Given: ${named(given)}. (A key is named by the beginning of its SHA-256; "openssl base64 -d | sha256sum" prints it.) ` +
        'Add the missing key to the list: SECRETS_KEY=<new>,<missing>. Then "npx webhooks rekey" encrypts every secret with the ' +
        'first key, and the others can be removed. Without DATABASE_URL, the key is in secrets.key of DATA_DIR. ' +
        'If the missing key is lost, see "Changing SECRETS_KEY" in docs/upgrades.md.',
    );
  }
}

const MAX_NAMED = 5;

const named = (keyIds: readonly string[]): string =>
  `${keyIds.slice(0, MAX_NAMED).join(', ')}${keyIds.length > MAX_NAMED ? ' and others' : ''}`;
