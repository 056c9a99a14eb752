import type { ApiSchema, WebhookServiceClient } from 'webhook-notification';
import { Acknowledgements } from './acknowledgements';
import type { Forwarded } from './forward';
import type { Interruption } from './interruption';
import { Outage, pauseUnless } from './outage';

type Message = ApiSchema<'Message'>;

export interface MessagePumpOptions {
  messages: WebhookServiceClient['messages'];
  webhookId: string;
  interruption: Interruption;
  /** Longer than the timeout of forwarding a message. */
  leaseSeconds: number;
  /** The number of successes after which the pump ends; undefined: none. */
  exitAfter: number | undefined;
  forward(message: Message, signal: AbortSignal): Promise<Forwarded>;
  report(message: Message, forwarded: Forwarded): void;
  say(sentence: string): void;
}

/** Maximum number of messages in flight. */
const CONCURRENCY = 10;
const WAIT_SECONDS = 20;
/** An empty list that returns earlier, as from a service that stops, is followed by a pause. */
const EARLY_MS = 1000 * (WAIT_SECONDS - 1);
const PAUSE_MS = 1000;
/** With a fast server, a whole batch ends within this time, so that the next lease is of a whole batch, too. */
const BATCH_MS = 100;
/** Timeout of a lease, after its wait. */
const TIMEOUT_MS = 15_000;

/** Leases messages, forwards and acknowledges them, several at a time, in the order of the lease. */
export class MessagePump {
  private readonly inFlight = new Set<Promise<void>>();
  private readonly outage: Outage;
  private readonly acknowledgements: Acknowledgements;
  succeeded = 0;

  constructor(private readonly options: MessagePumpOptions) {
    this.outage = new Outage((sentence) => options.say(sentence));
    this.acknowledgements = new Acknowledgements({ ...options, outage: this.outage });
  }

  /**
   * Runs until the interruption, or until `exitAfter` successes. Then it waits for messages in flight, which `cut`
   * aborts, and acknowledges them.
   * @throws WebhookServiceError when the service rejects a request
   */
  async run(): Promise<void> {
    const { interruption } = this.options;
    try {
      while (!interruption.stopped.aborted && this.missing() > 0) await this.step();
    } finally {
      interruption.stop();
      await Promise.all(this.inFlight);
      await this.acknowledgements.finish();
    }
  }

  private async step(): Promise<void> {
    const { stopped } = this.options.interruption;
    if (this.inFlight.size > 0) await Promise.race([Promise.all(this.inFlight), pauseUnless(stopped, BATCH_MS)]);
    const limit = Math.min(CONCURRENCY, this.missing()) - this.inFlight.size;
    if (stopped.aborted || limit <= 0) return;
    for (const message of await this.lease(limit)) this.begin(message);
  }

  private missing(): number {
    return (this.options.exitAfter ?? Infinity) - this.succeeded;
  }

  private async lease(limit: number): Promise<Message[]> {
    const { messages, webhookId, leaseSeconds, interruption } = this.options;
    const { stopped } = interruption;
    const ask = async () => {
      const startedAt = performance.now();
      // During an outage, an immediate response shows that it is over.
      const waitSeconds = this.outage.isOn ? 0 : WAIT_SECONDS;
      const body = { limit, waitSeconds, leaseSeconds };
      const leased = await messages.lease(webhookId, body, { signal: stopped, timeoutMs: TIMEOUT_MS });
      return { leased, tookMs: performance.now() - startedAt };
    };
    try {
      const { leased, tookMs } = await this.outage.outlast(ask, stopped);
      if (leased.length === 0 && tookMs < EARLY_MS) await pauseUnless(stopped, PAUSE_MS);
      return leased;
    } catch (error) {
      if (stopped.aborted) return [];
      throw error;
    }
  }

  private begin(message: Message): void {
    const { forward, report, interruption } = this.options;
    const work = forward(message, interruption.cut).then((forwarded) => {
      if (forwarded.failure === null) this.succeeded += 1;
      this.acknowledgements.add(message.leaseId, forwarded.failure);
      report(message, forwarded);
      this.inFlight.delete(work);
    });
    this.inFlight.add(work);
  }
}
