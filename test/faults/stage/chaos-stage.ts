import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api, dataOf } from '../../support/api';
import { Chronicle } from '../../support/chronicle';
import { Load } from './chaos-load';
import { ChaosPostgres } from './chaos-postgres';
import { ServiceProcess } from '../../support/service-process';
import { ChaosRedis } from './chaos-redis';
import { isLong } from './form';
import { Ledger, type LedgerAddress, type Script } from './ledger';
import type { StageDatabase } from './stage-database';
import { startProxy, type TcpProxy } from '../../support/proxy';
import { defaultSettings, type Settings } from '../../support/service';
import type { Store } from '../../support/stores';

export interface StageOptions {
  store: Store['name'];
  workers?: number;
  settings?: Settings;
  /** Starts the PostgreSQL of the stage; without it that is a `ChaosPostgres`. */
  startDatabase?: (chronicle: Chronicle) => Promise<StageDatabase>;
}

/** A webhook and the address that it leads to. */
export interface Subscriber extends LedgerAddress {
  webhookId: string;
  events: readonly string[];
}

/** Long enough for a receiver that is slow on purpose, and in the short form for a machine that is slow. */
export const DELIVERY_TIMEOUT_MS = isLong ? 3000 : 10_000;
/** Quick enough to see every retry. */
const SETTINGS: Settings = {
  DELIVERY_TIMEOUT_MS: String(DELIVERY_TIMEOUT_MS),
  RETRY_BASE_DELAY_MS: '300',
  RETRY_FACTOR: '2',
};

/**
 * A whole service of real processes: API and workers on stores of their own that can be killed, behind networks that can
 * be cut, with a client that publishes and a receiver that keeps a ledger.
 */
export class Stage {
  readonly chronicle = new Chronicle();
  readonly subscribers: Subscriber[] = [];
  ledger!: Ledger;
  database!: StageDatabase;
  postgresNetwork!: TcpProxy;
  redis: ChaosRedis | null = null;
  redisNetwork: TcpProxy | null = null;
  api!: ServiceProcess;
  workers: ServiceProcess[] = [];
  /** Where clients find the API, whichever process serves it. */
  door!: TcpProxy;
  client!: Api;
  load!: Load;
  private settings: Settings = {};
  private readonly undo: (() => Promise<unknown>)[] = [];

  constructor(readonly options: StageOptions) {}

  async start(): Promise<void> {
    this.ledger = await Ledger.open();
    this.undo.push(() => this.ledger.close());
    await this.startStores();
    this.api = await this.process('api', { ROLE: 'api' });
    const names = Array.from({ length: this.options.workers ?? 2 }, (_, i) => `worker-${i + 1}`);
    this.workers = await Promise.all(names.map((name) => this.process(name, { ROLE: 'worker' })));
    await Promise.all([this.api, ...this.workers].map((process) => process.start()));
    this.door = await this.network(this.api.port);
    this.client = new Api(`http://127.0.0.1:${this.door.port}`, this.settings.BOOTSTRAP_TOKEN ?? '');
    this.load = new Load([this.client]);
  }

  /** The PostgreSQL that can be ended in every way. */
  get postgres(): ChaosPostgres {
    if (!(this.database instanceof ChaosPostgres)) throw new Error('The PostgreSQL of this stage is another one.');
    return this.database;
  }

  /** Puts right what a fault that failed halfway has left behind; changes nothing where all is well. */
  async repair(): Promise<void> {
    this.ledger.answerAll();
    for (const network of [this.postgresNetwork, this.redisNetwork]) await network?.pass();
    if (this.postgres.isDown) await this.postgres.comeBack();
    if (this.redis?.isDown) await this.redis.comeBack('with its data');
    this.redis?.thaw();
    for (const worker of this.workers) worker.thaw();
  }

  /** Ends everything that was started, whatever state it is in. */
  async stop(): Promise<void> {
    await this.load?.stop().catch(() => undefined);
    for (let step = this.undo.pop(); step; step = this.undo.pop()) await step().catch(() => undefined);
  }

  /** Another process of the service on the same stores, not yet started. */
  async process(name: string, more: Settings): Promise<ServiceProcess> {
    const created = await ServiceProcess.create(name, { ...this.settings, ...more }, this.chronicle);
    this.undo.push(async () => created.kill());
    return created;
  }

  /** Starts a further API process, and publishes through it in turn with the others. */
  async addApi(name: string): Promise<ServiceProcess> {
    const api = await this.process(name, { ROLE: 'api' });
    await api.start();
    this.load.clients.push(new Api(api.url, this.settings.BOOTSTRAP_TOKEN ?? ''));
    return api;
  }

  /** @param more further fields of the webhook */
  async subscribe(name: string, events: readonly string[], script: Script = {}, more: object = {}): Promise<void> {
    const address = this.ledger.address(name, script);
    const { url, secret } = address;
    const { id } = await dataOf(this.client.createWebhook({ url, secret, events, ...more }), 201);
    this.subscribers.push({ ...address, webhookId: id, events });
  }

  /** Settings with which the clock of a process is off by this much, from its start on. */
  async clockOff(ms: number): Promise<Settings> {
    const folder = await mkdtemp(join(tmpdir(), 'chaos-clock-'));
    this.undo.push(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'clock.cjs');
    await writeFile(file, shiftedClock(ms));
    return { NODE_OPTIONS: `--require=${file}` };
  }

  private async startStores(): Promise<void> {
    const { startDatabase = (chronicle) => ChaosPostgres.start(chronicle) } = this.options;
    this.database = await startDatabase(this.chronicle);
    this.undo.push(() => this.database.stop());
    this.postgresNetwork = await this.network(this.database.port);
    const databaseUrl = this.database.urlThrough(this.postgresNetwork.port);
    const token = `wns_${randomBytes(32).toString('base64url')}`;
    this.settings = { ...defaultSettings(databaseUrl, token), ...SETTINGS, ...this.options.settings };
    if (this.options.store !== 'Redis') return;
    const redis = await ChaosRedis.start(this.chronicle);
    this.undo.push(() => redis.stop());
    this.redis = redis;
    this.redisNetwork = await this.network(redis.port);
    this.settings.REDIS_URL = redis.urlThrough(this.redisNetwork.port);
    // Tests read the queues, too.
    this.settings.QUEUE_PREFIX = 'bull';
  }

  private async network(port: number): Promise<TcpProxy> {
    const proxy = await startProxy(port);
    this.undo.push(() => proxy.stop());
    return proxy;
  }
}

/** A stage for all tests of the describe block. */
export function useStage(options: () => StageOptions, prepare: (stage: Stage) => Promise<void>): () => Stage {
  let stage: Stage | undefined;
  beforeAll(async () => {
    stage = new Stage(options());
    await stage.start();
    await prepare(stage);
  });
  afterAll(() => stage?.stop());
  return () => {
    if (!stage) throw new Error('The stage stands only while tests run.');
    return stage;
  };
}

// What the service knows of the time it asks of Date; its timers are not touched, as on a machine whose clock is wrong.
const shiftedClock = (ms: number) => `
  const RealDate = Date;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, self) => Reflect.construct(target, args.length ? args : [RealDate.now() + ${ms}], self),
    get: (target, name) => (name === 'now' ? () => RealDate.now() + ${ms} : Reflect.get(target, name)),
  });`;
