import { randomBytes } from 'node:crypto';
import { Api } from '../../support/api';
import { Chronicle } from '../../support/chronicle';
import { ServiceProcess } from '../../support/service-process';
import { scrape, sumOf } from './metrics';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { defaultSettings, freePort, type Settings } from '../../support/service';
import { PATIENCE_MS, waitFor } from '../../support/wait-for';

/** How many processes of each role. */
export interface FleetSize {
  apis: number;
  workers: number;
}

/** One process of a fleet, with metrics of its own. */
export class Member {
  private constructor(
    readonly process: ServiceProcess,
    private readonly metricsPort: number,
  ) {}

  static async create(name: string, settings: Settings): Promise<Member> {
    const metricsPort = await freePort();
    const own = { ...settings, METRICS_PORT: String(metricsPort) };
    return new Member(await ServiceProcess.create(name, own, new Chronicle()), metricsPort);
  }

  /** A metric of this process, summed up over its labels. */
  async metric(name: string): Promise<number> {
    return sumOf(await scrape(this.metricsPort), name) ?? 0;
  }

  /** What its log says of attempts, one entry each. */
  attempts(): { webhookId: string; eventId: string }[] {
    const lines = this.process.logs().split('\n');
    return lines
      .filter((line) => line.includes('"msg":"attempt"'))
      .map((line) => JSON.parse(line) as { webhookId: string; eventId: string });
  }
}

/** Processes of `ROLE=api` and `ROLE=worker` on one database, as on several machines. */
export class Fleet {
  private constructor(
    readonly database: TestDatabase,
    readonly apis: Member[],
    readonly workers: Member[],
    private readonly token: string,
  ) {}

  /** Not yet started. */
  static async create({ apis, workers }: FleetSize, settings: Settings): Promise<Fleet> {
    const database = await cloneDatabase();
    const token = `wns_${randomBytes(32).toString('base64url')}`;
    const all = { ...defaultSettings(database.url, token), ...settings };
    const members = (role: string, count: number): Promise<Member[]> =>
      Promise.all(Array.from({ length: count }, (_, i) => Member.create(`${role}-${i + 1}`, { ...all, ROLE: role })));
    return new Fleet(database, await members('api', apis), await members('worker', workers), token);
  }

  /** The API of one of the processes, as `admin`. */
  through({ process }: Member): Api {
    return new Api(process.url, this.token);
  }

  /** Starts those that do not run, and waits until they are ready. */
  async complete(): Promise<void> {
    const missing = this.members().filter(({ process }) => !process.runs());
    await Promise.all(missing.map(({ process }) => startAndGetReady(process)));
  }

  /** Ends every process with SIGTERM and hands on the exit codes. */
  async end(): Promise<(number | null)[]> {
    const ended = this.members().map(async ({ process }) => (process.runs() ? (await process.end()).exitCode : 0));
    try {
      return await Promise.all(ended);
    } finally {
      await this.database.drop();
    }
  }

  private members(): Member[] {
    return [...this.apis, ...this.workers];
  }
}

/** For all of its processes, which take some 6 s when nothing else runs. */
const START_WITHIN_MS = 3 * PATIENCE_MS;

async function startAndGetReady(process: ServiceProcess): Promise<void> {
  await process.start();
  const isReady = async () => (await process.ready()).status === 200;
  await waitFor(isReady, { what: `${process.name} to be ready` });
}

/** A fleet for all tests of the describe block, complete before each; its processes must end cleanly. */
export function useFleet(size: FleetSize, settings: () => Settings): () => Fleet {
  let fleet: Fleet | undefined;
  beforeAll(async () => {
    fleet = await Fleet.create(size, settings());
  });
  beforeEach(() => fleet?.complete(), START_WITHIN_MS);
  afterAll(async () => {
    if (fleet) expect((await fleet.end()).filter((exitCode) => exitCode !== 0)).toEqual([]);
  });
  return () => {
    if (!fleet) throw new Error('The fleet runs only while tests do.');
    return fleet;
  };
}
