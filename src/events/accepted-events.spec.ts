import { Logger } from '@nestjs/common';
import { DataSource, type QueryRunner } from 'typeorm';
import type { MetricsService } from '../infrastructure/metrics/metrics.service';
import { type AcceptedEvent, AcceptedEventsService } from './accepted-events.service';
import type { FanOutQueue } from './fan-out.queue';
import { PublishTransactionSubscriber } from './publish-transaction.subscriber';

const events = (count: number): AcceptedEvent[] =>
  Array.from({ length: count }, (_, i) => ({
    published: { id: `${i}`, event: 'a.b', userId: null, duplicate: false },
    publisherId: null,
    traceparent: null,
  }));
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('Many events of one transaction', () => {
  const [inc, add] = [jest.fn(), jest.fn()];
  const accepted = new AcceptedEventsService(
    { add } as object as FanOutQueue,
    { counterBy: () => ({ inc }) } as object as MetricsService,
  );
  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => [inc, add].forEach((mock) => mock.mockClear()));

  it('are enqueued at once, and counted in parts so that other work gets a turn', async () => {
    accepted.committed(events(1200));
    expect(add.mock.calls[0][0]).toHaveLength(1200);
    expect(inc).toHaveBeenCalledTimes(500);
    await turn();
    expect(inc.mock.calls.length).toBeLessThan(1200);
    for (let i = 0; i < 3; i++) await turn();
    expect(inc).toHaveBeenCalledTimes(1200);
  });

  it('are held until the outermost commit, even when they come from a savepoint', () => {
    const queryRunner = { data: {} } as QueryRunner;
    const transactions = new PublishTransactionSubscriber({ subscribers: [] as object[] } as DataSource, accepted);
    transactions.afterTransactionStart({ queryRunner });
    transactions.afterTransactionStart({ queryRunner });
    transactions.note({ queryRunner } as never, events(200_000));
    transactions.afterTransactionCommit({ queryRunner });
    expect(add).not.toHaveBeenCalled();
    transactions.afterTransactionCommit({ queryRunner });
    expect(add.mock.calls[0][0]).toHaveLength(200_000);
  });
});
