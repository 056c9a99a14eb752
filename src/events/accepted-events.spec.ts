import { Logger } from '@nestjs/common';
import { DataSource, type QueryRunner } from 'typeorm';
import type { MetricsService } from '../plumbing/metrics/metrics.service';
import { type AcceptedEvent, AcceptedEventsService } from './accepted-events.service';
import type { FanOutQueue } from './fan-out.queue';
import { PublishTransactionSubscriber } from './publish-transaction.subscriber';

const events = (count: number): AcceptedEvent[] =>
  Array.from({ length: count }, (_, i) => ({
    published: { id: `${i}`, event: 'a.b', userId: null, duplicate: false },
  }));
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('Very many events of one transaction', () => {
  const [inc, offer] = [jest.fn(), jest.fn()];
  const accepted = new AcceptedEventsService(
    { offer } as object as FanOutQueue,
    { counterBy: () => ({ inc }) } as object as MetricsService,
  );
  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => [inc, offer].forEach((mock) => mock.mockClear()));

  it('are offered at once, and told in parts, between which others get a turn', async () => {
    accepted.committed(events(1200));
    expect(offer.mock.calls[0][0]).toHaveLength(1200);
    expect(inc).toHaveBeenCalledTimes(500);
    await turn();
    expect(inc.mock.calls.length).toBeLessThan(1200);
    for (let i = 0; i < 3; i++) await turn();
    expect(inc).toHaveBeenCalledTimes(1200);
  });

  it('are kept until the outermost commit, also when they come out of a savepoint', () => {
    const queryRunner = { data: {} } as QueryRunner;
    const transactions = new PublishTransactionSubscriber({ subscribers: [] as object[] } as DataSource, accepted);
    transactions.afterTransactionStart({ queryRunner });
    transactions.afterTransactionStart({ queryRunner });
    transactions.note({ queryRunner } as never, events(200_000));
    transactions.afterTransactionCommit({ queryRunner });
    expect(offer).not.toHaveBeenCalled();
    transactions.afterTransactionCommit({ queryRunner });
    expect(offer.mock.calls[0][0]).toHaveLength(200_000);
  });
});
