import { Injectable } from '@nestjs/common';
import { MetricsService } from '../metrics/metrics.service';

type Check = () => Promise<void>;

const CHECK_WITHIN_MS = 2000;

type Verdict = 'well' | 'not well';

/** The state of every component by its name, without hosts or error messages of a store. */
export interface Readiness {
  status: 'ready' | 'not ready';
  checks: Record<string, Verdict>;
  /** A message for each unhealthy component, where the cause is known; absent when there is none. */
  details?: Record<string, string>;
}

/** A check that throws this shows its message to everyone, so the message must not contain a host or a stored value. */
export class UnhealthyError extends Error {}

/** Modules register the checks that must pass for this process to be ready. */
@Injectable()
export class HealthService {
  private readonly checks = new Map<string, Check[]>();
  private running: ReturnType<HealthService['runChecks']> | null = null;
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

  /** Adds a check, which throws when its component is unhealthy, within two seconds. Checks may share a name. */
  register(name: string, check: Check): void {
    this.checks.set(name, [...(this.checks.get(name) ?? []), check]);
  }

  drain(): void {
    this.draining = true;
  }

  /**
   * Runs all checks, within two seconds. Never throws. Requests that arrive while checks run wait for their result:
   * anyone may send any number of requests, and they must not take all connections to the stores.
   */
  async readiness(): Promise<Readiness> {
    this.running ??= this.runChecks().finally(() => (this.running = null));
    const { checks: found, details } = await this.running;
    const checks = { ...found };
    if (this.draining) checks.process = 'not well';
    const status = Object.values(checks).includes('not well') ? 'not ready' : 'ready';
    return { status, checks, ...(Object.keys(details).length > 0 && { details }) };
  }

  private async runChecks(): Promise<Pick<Readiness, 'checks'> & { details: Record<string, string> }> {
    // In registration order, whichever ends first.
    const checks: Readiness['checks'] = Object.fromEntries([...this.checks.keys()].map((name) => [name, 'well']));
    const details: Record<string, string> = {};
    await Promise.all(
      [...this.checks].map(async ([name, registered]) => {
        const error = await failureOf(registered);
        if (error !== null) checks[name] = 'not well';
        if (error instanceof UnhealthyError) details[name] = error.message;
      }),
    );
    return { checks, details };
  }
}

/** Returns the rejection of the first check that fails; null when all pass in time. */
async function failureOf(checks: Check[]): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The check took too long.')), CHECK_WITHIN_MS);
  });
  try {
    await Promise.race([Promise.all(checks.map((check) => check())), tooLate]);
    return null;
  } catch (error) {
    return error;
  } finally {
    clearTimeout(timer);
  }
}
