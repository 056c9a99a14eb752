import type { Client } from 'pg';
import { headerContext } from './secret-box';
import type { SecretsService } from './secrets.service';
import { BEFORE_ALL_IDS } from '../../infrastructure/database/id-time';

const PAGE_ROWS = 500;

const COLUMNS = 'id, url, secret, previous_secret as "previousSecret", headers';
const READ_PAGE = {
  name: 'secrets_page',
  text: `select ${COLUMNS} from webhook_service.webhooks where id > $1 order by id limit ${PAGE_ROWS}`,
};
const READ_ONE = { name: 'secrets_one', text: `select ${COLUMNS} from webhook_service.webhooks where id = $1` };
/** Replaces secrets only if they are still the ones that were read, so that a concurrent change is kept. */
const REPLACE = {
  name: 'secrets_replace',
  text: `
    update webhook_service.webhooks set secret = $2, previous_secret = $3, headers = $4
    where id = $1 and secret = $5 and previous_secret is not distinct from $6 and headers = $7`,
};

interface Row {
  id: string;
  url: string;
  secret: Buffer;
  previousSecret: Buffer | null;
  /** Sealed values by name, in base64. */
  headers: Record<string, string>;
}

/** A sealed value and what it is bound to. */
type Stored = [context: string, sealed: Buffer | null];

/** Result of a rekey. It counts secrets and values of headers, not webhooks. */
export interface RekeyReport {
  reencrypted: number;
  current: number;
  /** Ids of webhooks with a secret that no key decrypts. That secret is left unchanged. */
  unreadable: string[];
}

/** Re-encrypts all stored secrets and header values under the first key, page by page, while the service uses and changes them. */
export class RekeyRepository {
  constructor(
    private readonly client: Client,
    private readonly secrets: SecretsService,
  ) {}

  /** Rekeys the secrets of all webhooks. Throws when PostgreSQL fails; secrets rekeyed before that stay rekeyed. */
  async rekeyAll(): Promise<RekeyReport> {
    const report: RekeyReport = { reencrypted: 0, current: 0, unreadable: [] };
    for (let page = await this.readPage(BEFORE_ALL_IDS); page.length > 0; page = await this.readPage(page.at(-1)!.id))
      for (const row of page) await this.rekey(row, report);
    return report;
  }

  private async rekey(read: Row, report: RekeyReport): Promise<void> {
    // Read a row again if it has changed in the meantime: its secret may have become its previous secret.
    for (let row: Row | undefined = read; row; row = await this.readOne(row.id)) {
      const stored = storedIn(row);
      const resealed = stored.map(([context, sealed]) => sealed && this.secrets.reseal(context, sealed));
      const replacements = stored.map(([, sealed], i) => resealed[i] ?? sealed);
      const changes = stored.filter(([, sealed], i) => sealed !== replacements[i]).length;
      if (changes > 0 && !(await this.replace(row, replacements))) continue;
      const unreadable = stored.filter(([, sealed], i) => sealed && resealed[i] === null).length;
      report.reencrypted += changes;
      report.current += stored.filter(([, sealed]) => sealed).length - changes - unreadable;
      if (unreadable > 0) report.unreadable.push(row.id);
      return;
    }
  }

  private async replace(row: Row, [secret, previousSecret, ...values]: (Buffer | null)[]): Promise<boolean> {
    const headers = Object.keys(row.headers).map((name, i) => [name, values[i]?.toString('base64')]);
    const next = [secret, previousSecret, JSON.stringify(Object.fromEntries(headers))];
    const read = [row.secret, row.previousSecret, JSON.stringify(row.headers)];
    return (await this.client.query({ ...REPLACE, values: [row.id, ...next, ...read] })).rowCount === 1;
  }

  private async readPage(afterId: string): Promise<Row[]> {
    return (await this.client.query<Row>({ ...READ_PAGE, values: [afterId] })).rows;
  }

  private async readOne(id: string): Promise<Row | undefined> {
    return (await this.client.query<Row>({ ...READ_ONE, values: [id] })).rows[0];
  }
}

const storedIn = ({ id, url, secret, previousSecret, headers }: Row): Stored[] => [
  [id, secret],
  [id, previousSecret],
  ...Object.entries(headers).map(([name, sealed]): Stored => [
    headerContext(id, url, name),
    Buffer.from(sealed, 'base64'),
  ]),
];
