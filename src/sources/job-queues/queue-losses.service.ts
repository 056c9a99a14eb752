import { Injectable } from '@nestjs/common';
import { MetricsService } from '../../plumbing/metrics/metrics.service';
import { QueueMonitorService } from './queue-monitor.service';

/** Shows how often a monitored queue's stream had been trimmed before it was read. */
@Injectable()
export class QueueLossesService {
  constructor(monitor: QueueMonitorService, metrics: MetricsService) {
    const help = "How often a monitored queue's stream had been trimmed before it was read.";
    metrics.counterFrom('webhooks_monitored_queue_losses_total', help, 'queue', monitor.losses);
  }
}
