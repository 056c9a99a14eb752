import type { Client } from 'pg';
import type { SecretsService } from './secrets.service';

const PAGE_ROWS = 500;
const BEFORE_ALL_IDS = '00000000-0000-0000-0000-000000000000';

const COLUMNS = 'id, secret, previous_secret as "previousSecret"';
const READ_PAGE = {
  name: 'secrets_page',
  text: `select ${COLUMNS} from webhook_service.webhooks where id > $1 order by id limit ${PAGE_ROWS}`,
};
const READ_ONE = { name: 'secrets_one', text: `select ${COLUMNS} from webhook_service.webhooks where id = $1` };
/** Replaces secrets only if they are still the ones that were read, so that a concurrent change is kept. */
const REPLACE = {
  name: 'secrets_replace',
  text: `
    update webhook_service.webhooks set secret = $2, previous_secret = $3
    where id = $1 and secret = $4 and previous_secret is not distinct from $5`,
};

interface Row {
  id: string;
  secret: Buffer;
  previousSecret: Buffer | null;
}

/** Result of a rekey. It counts secrets, not webhooks: a webhook may have two secrets. */
export interface RekeyReport {
  /** Secrets that were re-encrypted under the first key. */
  reencrypted: number;
  /** Secrets that were already under the first key. */
  current: number;
  /** Ids of webhooks with a secret that no key decrypts. That secret is left unchanged. */
  unreadable: string[];
}

/** Re-encrypts all stored secrets under the first key, page by page, while the service uses and changes secrets. */
export class RekeyRepository {
  constructor(
    private readonly client: Client,
    private readonly secrets: SecretsService,
  ) {}

  /**
   * Rekeys the secrets of all webhooks.
   * @throws Error when PostgreSQL fails; secrets rekeyed before that stay rekeyed
   */
  async rekeyAll(): Promise<RekeyReport> {
    const report: RekeyReport = { reencrypted: 0, current: 0, unreadable: [] };
    for (let page = await this.readPage(BEFORE_ALL_IDS); page.length > 0; page = await this.readPage(page.at(-1)!.id)) {
      for (const row of page) await this.rekey(row, report);
    }
    return report;
  }

  private async rekey(read: Row, report: RekeyReport): Promise<void> {
    // Read a row again if it has changed in the meantime: its secret may have become its previous secret.
    for (let row: Row | undefined = read; row; row = await this.readOne(row.id)) {
      const stored = [row.secret, row.previousSecret];
      const resealed = stored.map((sealed) => sealed && this.secrets.reseal(read.id, sealed));
      const replacements = stored.map((sealed, i) => resealed[i] ?? sealed);
      const changes = stored.filter((sealed, i) => sealed !== replacements[i]).length;
      if (changes > 0 && !(await this.replace(row, replacements))) continue;
      const unreadable = stored.filter((sealed, i) => sealed && resealed[i] === null).length;
      report.reencrypted += changes;
      report.current += stored.filter((sealed) => sealed).length - changes - unreadable;
      if (unreadable > 0) report.unreadable.push(row.id);
      return;
    }
  }

  private async replace({ id, secret, previousSecret }: Row, [next, nextPrevious]: (Buffer | null)[]) {
    const values = [id, next, nextPrevious, secret, previousSecret];
    return (await this.client.query({ ...REPLACE, values })).rowCount === 1;
  }

  private async readPage(afterId: string): Promise<Row[]> {
    return (await this.client.query<Row>({ ...READ_PAGE, values: [afterId] })).rows;
  }

  private async readOne(id: string): Promise<Row | undefined> {
    return (await this.client.query<Row>({ ...READ_ONE, values: [id] })).rows[0];
  }
}
