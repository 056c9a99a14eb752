import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AddressPolicy } from '../../../src/infrastructure/destinations/address';
import { HttpClient } from '../../../src/infrastructure/destinations/http.client';
import { AccountsService } from '../../../src/sources/followers/accounts/accounts.service';
import { BLUESKY_ORIGIN } from '../../../src/sources/followers/providers/bluesky-provider.client';
import { FollowerReadingsService } from '../../../src/sources/followers/readings/follower-readings.service';
import { lateOf, startApplication, stopApplication } from './application';
import { type FollowerServer, followerAuthority } from '../../support/follower-server';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';

export interface PublishedChange {
  event: 'follower.gained' | 'follower.lost';
  data: {
    accountId: string;
    follower: { id: string; username: string; displayName?: string };
    followersCount: number;
    observedAt: string;
  };
}

/** The follower monitor in this process, with a test server in place of Bluesky; it reads nothing automatically. */
export class FollowerMonitor {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly database: TestDatabase,
    private readonly http: HttpClient,
  ) {}

  static async start(server: FollowerServer, database?: TestDatabase): Promise<FollowerMonitor> {
    const policy = new AddressPolicy(['127.0.0.0/8']);
    const trustedCertificates = [followerAuthority.cert];
    const http = new HttpClient({ policy, dnsServers: [], timeoutMs: 2000, requireHttps: false, trustedCertificates });
    const own = database ?? (await cloneDatabase());
    const app = await startApplication(own.url, [], {}, (builder) =>
      builder
        .overrideProvider(HttpClient)
        .useValue(http)
        .overrideProvider(BLUESKY_ORIGIN)
        .useFactory({ factory: () => server.origin }),
    );
    return new FollowerMonitor(app, own, http);
  }

  async stop({ dropDatabase = true } = {}): Promise<void> {
    await stopApplication(this.app);
    await this.http.onApplicationShutdown();
    if (dropDatabase) await this.database.drop();
  }

  get accounts(): AccountsService {
    return this.app.get(AccountsService);
  }

  get readings(): FollowerReadingsService {
    return this.app.get(FollowerReadingsService);
  }

  /** Reads every account that is due. */
  async readDue(stop?: AbortSignal): Promise<number> {
    const readings = await this.readings.claim(100);
    await Promise.all(readings.map((reading) => this.readings.read(reading, stop)));
    return readings.length;
  }

  /** Reads an account as if its interval were over. */
  async readNow(id: string): Promise<void> {
    await this.makeDue(id);
    await this.readDue();
  }

  async makeDue(id: string): Promise<void> {
    await this.database.query(
      `update webhook_service.accounts set next_reading_at = now() - interval '1 second' where id = $1`,
      [id],
    );
  }

  /** The events about an account, oldest first. */
  async events(accountId: string): Promise<PublishedChange[]> {
    const rows = await this.database.query<{ body: string; user_id: string }>(
      `select body, user_id from webhook_service.events where body::json->'data'->>'accountId' = $1 order by id`,
      [accountId],
    );
    return rows.map(({ body }) => {
      const { event, data } = JSON.parse(body) as PublishedChange;
      return { event, data };
    });
  }

  /** The ids of the followers that count, and how many rows of unfinished readings there are. */
  async rows(accountId: string): Promise<{ known: string[]; staged: number }> {
    const known = await this.database.query<{ id: string }>(
      'select follower_id as id from webhook_service.account_followers where account_id = $1 order by follower_id',
      [accountId],
    );
    const staged = await this.database.query('select 1 from webhook_service.staged_followers where account_id = $1', [
      accountId,
    ]);
    return { known: known.map(({ id }) => id), staged: staged.length };
  }

  /** How many seconds from now the account is due. */
  async dueInSeconds(id: string): Promise<number> {
    const [row] = await this.database.query<{ seconds: string }>(
      'select extract(epoch from next_reading_at - now()) as seconds from webhook_service.accounts where id = $1',
      [id],
    );
    return Number(row?.seconds);
  }
}

/** Starts it for the tests of a file. Before each test, no account is left, and a server of followers answers at once with none. */
export function useFollowerMonitor(server: FollowerServer): FollowerMonitor {
  let monitor: FollowerMonitor | undefined;
  beforeAll(async () => {
    monitor = await FollowerMonitor.start(server);
  });
  afterAll(() => monitor?.stop());
  beforeEach(async () => {
    server.interrupt();
    server.serve([]);
    await monitor?.database.query('delete from webhook_service.accounts');
  });
  return lateOf(() => monitor);
}
