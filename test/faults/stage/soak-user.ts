import { setTimeout as pause } from 'node:timers/promises';
import { type Api, dataOf, type Reply } from '../../support/api';
import { waitFor } from '../../support/wait-for';
import type { Stage } from './chaos-stage';
import type { Script } from './ledger';

const EVERY_MS = 500;
/** How many steps an outage of a receiver lasts. */
const OUTAGE_STEPS = 20;

/**
 * A user of a stage who reads the log, changes webhooks and repairs them. One of them is `unreliable`: its receiver is down
 * now and then, longer than retries go on. One is `paused` now and then. Both are recovered when they are back.
 */
export class SoakUser {
  /** Replies that were not successes. */
  readonly complaints: string[] = [];
  steps = 0;
  private stopped = false;
  private using: Promise<void> = Promise.resolve();
  private readonly since = new Date().toISOString();

  constructor(
    private readonly stage: Stage,
    /** The script of the unreliable receiver. */
    private readonly script: Script,
  ) {}

  start(): void {
    this.using = this.use();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.using;
  }

  /** Brings both webhooks back, and recovers all that they have missed. */
  async repair(): Promise<void> {
    this.script.failsUntil = 0;
    await dataOf(this.client.updateWebhook(this.idOf('paused'), { active: true }));
    for (const name of ['unreliable', 'paused']) {
      await this.whenRecovered(name);
      await dataOf(this.client.recover(this.idOf(name), { since: this.since }), 202);
      await this.whenRecovered(name);
    }
  }

  private get client(): Api {
    return this.stage.client;
  }

  private idOf(name: string): string {
    return this.stage.subscribers.find((subscriber) => subscriber.name === name)!.webhookId;
  }

  private async whenRecovered(name: string): Promise<void> {
    const isDone = async () => {
      const recoveries = await dataOf(this.client.listRecoveries(this.idOf(name)));
      return recoveries.every(({ status }) => status === 'done');
    };
    await waitFor(isDone, { what: `the recovery of ${name}`, timeoutMs: 1_200_000, everyMs: 200 });
  }

  private async use(): Promise<void> {
    const ways = this.waysToUse();
    while (!this.stopped) {
      const reply = await ways[this.steps % ways.length]!(this.steps).catch((error: unknown) => String(error));
      if (typeof reply === 'string') this.complaints.push(reply);
      else if (!reply.success && reply.code !== 'recovery_running')
        this.complaints.push(`${reply.status} ${reply.code}: ${reply.error}`);
      this.steps += 1;
      await pause(EVERY_MS);
    }
  }

  private waysToUse(): ((n: number) => Promise<Reply<unknown>>)[] {
    const { client, script } = this;
    const [unreliable, paused] = [this.idOf('unreliable'), this.idOf('paused')];
    const isOut = (n: number) => Math.floor(n / OUTAGE_STEPS) % 2 === 1;
    return [
      () => client.listAllDeliveries({ limit: 100, state: 'gave_up' }),
      (n) =>
        client.updateWebhook(this.idOf('limited'), { maxPerSecond: 500 + (n % 100), headers: { 'x-key': `v ${n}` } }),
      () => client.listDeliveries(unreliable, { status: 'failed', limit: 250 }),
      (n) => {
        script.failsUntil = isOut(n) ? 100 : 0;
        return isOut(n) ? client.stats() : client.recover(unreliable, { since: minutesAgo() });
      },
      () => client.countDeliveries({ status: 'succeeded' }),
      (n) => client.updateWebhook(paused, { active: !isOut(n) }),
      () => client.listWebhooks({ include: 'stats' }),
      (n) => (isOut(n) ? client.listEvents({ limit: 100 }) : client.recover(paused, { since: minutesAgo() })),
      (n) => client.updateWebhook(this.idOf('everything'), { description: `change ${n}`, timeoutMs: 2000 + (n % 100) }),
      () => client.listAllDeliveries({ error: 'http_status', limit: 250 }),
    ];
  }
}

const minutesAgo = () => new Date(Date.now() - 120_000).toISOString();
