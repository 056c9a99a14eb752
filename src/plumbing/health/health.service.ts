import { Injectable } from '@nestjs/common';
import { MetricsService } from '../metrics/metrics.service';

type Check = () => Promise<void>;

const CHECK_WITHIN_MS = 2000;

/** The state of every part by its name, without hosts or messages. */
export interface Readiness {
  status: 'ready' | 'not ready';
  checks: Record<string, 'well' | 'not well'>;
}

/** The rooms register here the checks that must pass for this process to be ready. */
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

  /**
   * Adds a check, which throws when its part is not well. It has two seconds. Several checks may share a name: the part
   * is well when all of them pass.
   */
  register(name: string, check: Check): void {
    this.checks.set(name, [...(this.checks.get(name) ?? []), check]);
  }

  /** Reports this process as not ready from now on, because it is about to end. */
  drain(): void {
    this.draining = true;
  }

  /** Runs all checks, within two seconds. Never throws. */
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
