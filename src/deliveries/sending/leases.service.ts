import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { DeliveriesRepository } from '../deliveries.repository';

const RENEW_EVERY_MS = 1000;
/** Reminders are trusted for ten seconds, `ATTENDED`: a slow attempt says in time that it is being made. */
const RENEW_AFTER_MS = 4000;

/** The attempts that this process is making. Of one that takes long it tells the others: the sweeper leaves its row alone. */
@Injectable()
export class AttendanceService implements OnApplicationShutdown {
  private readonly logger = new Logger('Deliveries');
  /** When the row has to be renewed, in ms of this process. */
  private readonly renewAt = new Map<string, number>();
  private readonly timer = setInterval(() => void this.renew(), RENEW_EVERY_MS).unref();

  constructor(private readonly deliveries: DeliveriesRepository) {}

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** False when this process is making the attempt already. */
  begin(deliveryId: string): boolean {
    if (this.renewAt.has(deliveryId)) return false;
    this.renewAt.set(deliveryId, performance.now() + RENEW_AFTER_MS);
    return true;
  }

  end(deliveryId: string): void {
    this.renewAt.delete(deliveryId);
  }

  private async renew(): Promise<void> {
    const now = performance.now();
    const ids: string[] = [];
    // In the order in which they began: the first that has time is followed by none that has not.
    for (const [id, at] of this.renewAt) {
      if (at > now) break;
      ids.push(id);
    }
    for (const id of ids) {
      this.renewAt.delete(id);
      this.renewAt.set(id, now + RENEW_AFTER_MS);
    }
    try {
      if (ids.length > 0) await this.deliveries.attend(ids);
    } catch (error) {
      this.logger.debug(`Slow attempts cannot be told of: ${String(error)}`);
    }
  }
}
