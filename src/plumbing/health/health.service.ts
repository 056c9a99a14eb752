import { Injectable } from '@nestjs/common';
import { MetricsService } from '../metrics/metrics.service';

type Check = () => Promise<void>;

const CHECK_WITHIN_MS = 2000;

/** What readiness found: every part by its name, without hosts or messages. */
export interface Readiness {
  status: 'ready' | 'not ready';
  checks: Record<string, 'well' | 'not well'>;
}

/** Where rooms register what must be well for this process to be ready. */
@Injectable()
export class HealthService {
  private readonly checks = new Map<string, Check[]>();
  private draining = false;

  constructor(metrics: MetricsService) {
    metrics.gauge('webhooks_ready', 'Whether each part of readiness is well: 1, or 0.', ['check'], async () => {
      const { checks } = await this.readiness();
      return Object.entries(checks).map(([check, verdict]) => ({
        labels: { check },
        value: verdict === 'well' ? 1 : 0,
      }));
    });
  }

  /** Several checks may share a name: it is well when all of them are. A check throws when its part is not well. */
  register(name: string, check: Check): void {
    this.checks.set(name, [...(this.checks.get(name) ?? []), check]);
  }

  /** From now on this process is not ready: it is about to end. */
  drain(): void {
    this.draining = true;
  }

  async readiness(): Promise<Readiness> {
    const entries = await Promise.all([...this.checks].map(async ([name, checks]) => [name, await verdict(checks)]));
    const checks = Object.fromEntries(entries) as Readiness['checks'];
    if (this.draining) checks.process = 'not well';
    return { status: Object.values(checks).includes('not well') ? 'not ready' : 'ready', checks };
  }
}

async function verdict(checks: Check[]): Promise<'well' | 'not well'> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => (timer = setTimeout(reject, CHECK_WITHIN_MS)));
  try {
    await Promise.race([Promise.all(checks.map((check) => check())), tooLate]);
    return 'well';
  } catch {
    return 'not well';
  } finally {
    clearTimeout(timer);
  }
}
