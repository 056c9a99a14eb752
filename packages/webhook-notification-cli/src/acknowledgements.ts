import { setTimeout as pause } from 'node:timers/promises';
import type { WebhookServiceClient } from 'webhook-notification';
import type { Interruption } from './interruption';
import type { Outage } from './outage';

interface Outcome {
  leaseId: string;
  failure: string | null;
}

export interface AcknowledgementsOptions {
  messages: WebhookServiceClient['messages'];
  webhookId: string;
  outage: Outage;
  interruption: Interruption;
}

/** Maximum number of leases of a request. */
const BATCH = 100;
/** Outcomes within this time share a request. */
const LINGER_MS = 10;
/** Timeout of the last attempt, when the command ends. */
const LAST_TRY_MS = 5000;

/** Acknowledges messages. One request is in flight at a time; the next one contains all outcomes since then. */
export class Acknowledgements {
  private readonly waiting: Outcome[] = [];
  private sending: Promise<void> | null = null;
  private error: Error | null = null;

  constructor(private readonly options: AcknowledgementsOptions) {}

  /** Acknowledges a message in the background: as failed with `failure` as the reason, or as succeeded if that is null. */
  add(leaseId: string, failure: string | null): void {
    this.waiting.push({ leaseId, failure });
    this.sending ??= this.sendAll();
  }

  /**
   * Waits until everything is acknowledged.
   * @throws WebhookServiceError when the service has rejected an acknowledgement
   */
  async finish(): Promise<void> {
    await this.sending;
    if (this.error) throw this.error;
  }

  private async sendAll(): Promise<void> {
    try {
      await pause(LINGER_MS);
      while (this.waiting.length > 0) await this.send(this.waiting.splice(0, BATCH));
    } catch (error) {
      this.error ??= error as Error;
      this.options.interruption.stop();
    } finally {
      this.sending = null;
    }
  }

  private async send(outcomes: readonly Outcome[]): Promise<void> {
    const { messages, webhookId, outage, interruption } = this.options;
    const { cut } = interruption;
    const body = {
      succeeded: outcomes.flatMap(({ leaseId, failure }) => (failure === null ? [leaseId] : [])),
      failed: outcomes.flatMap(({ leaseId, failure }) => (failure === null ? [] : [{ leaseId, message: failure }])),
    };
    const acknowledge = (signal: AbortSignal) => messages.acknowledge(webhookId, body, { signal });
    try {
      await outage.outlast(() => acknowledge(cut), cut);
    } catch (error) {
      if (!cut.aborted) throw error;
      await acknowledge(AbortSignal.timeout(LAST_TRY_MS));
    }
  }
}
