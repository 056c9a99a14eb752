import { Injectable } from '@nestjs/common';
import { MetricsService } from '../../infrastructure/metrics/metrics.service';
import { OldestDueRepository } from './oldest-due.repository';

const MAX_ROWS = 1000;
const MAX_WEBHOOKS = 1000;

/** Exports how late the service is, as a metric. */
@Injectable()
export class OldestDueService {
  constructor(rows: OldestDueRepository, metrics: MetricsService) {
    const help = 'Age of the oldest row that is due, in seconds; 0 when there is none.';
    metrics.gauge('webhooks_oldest_due_seconds', help, ['kind', 'state'], async () => {
      const ages = await rows.read(MAX_ROWS, MAX_WEBHOOKS);
      const sample = (kind: string, state: string, value: number) => ({ labels: { kind, state }, value });
      return [
        sample('events', 'pending', ages.pendingEvents),
        sample('events', 'unattended', ages.unattendedEvents),
        sample('deliveries', 'pending', ages.pendingDeliveries),
        sample('deliveries', 'unattended', ages.unattendedDeliveries),
        sample('deliveries', 'deferred', ages.deferredDeliveries),
      ];
    });
  }
}
