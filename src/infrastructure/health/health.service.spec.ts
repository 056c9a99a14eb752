import { MetricsService } from '../metrics/metrics.service';
import { HealthService } from './health.service';

describe('HealthService', () => {
  let health: HealthService;
  let runs: number;
  let end: (error?: Error) => void;
  beforeEach(() => {
    runs = 0;
    health = new HealthService(new MetricsService());
    health.register('postgres', () => {
      runs += 1;
      return new Promise((resolve, reject) => {
        end = (error) => (error ? reject(error) : resolve());
      });
    });
    health.register('queue', () => Promise.resolve());
  });
  const READY = { status: 'ready', checks: { postgres: 'well', queue: 'well' } };
  const NOT_READY = { status: 'not ready', checks: { postgres: 'not well', queue: 'well' } };

  it('runs one check for all waiting requests, and another one for later requests', async () => {
    const requests = Array.from({ length: 1000 }, () => health.readiness());
    end(new Error('away'));
    expect(new Set((await Promise.all(requests)).map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify(NOT_READY)]),
    );
    expect(runs).toBe(1);
    const later = health.readiness();
    end();
    expect(await later).toEqual(READY);
    expect(runs).toBe(2);
  });

  it('reports a process that is shutting down, also to requests that are already waiting', async () => {
    const requests = [health.readiness(), health.readiness()];
    health.drain();
    end();
    expect(await Promise.all(requests)).toEqual(
      requests.map(() => ({ status: 'not ready', checks: { ...READY.checks, process: 'not well' } })),
    );
  });
});
