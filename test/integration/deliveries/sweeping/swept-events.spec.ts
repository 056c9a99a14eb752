import { v7 } from 'uuid';
import { FanOutService } from '../../../../src/deliveries/fan-out/fan-out.service';
import { SweepRepository } from '../../../../src/deliveries/sweeping/sweep.repository';
import { SweeperService } from '../../../../src/deliveries/sweeping/sweeper.service';
import { FanOutQueue, type StoredEvent } from '../../../../src/events/fan-out.queue';
import { useApplication } from '../../stage/application';

const PAGE = 1000;
/** A page looks at ten times as many events as it takes. */
const BEHIND = 25_000;

describe('Events of a user that only the sweeper finds', () => {
  const { app, database } = useApplication();
  beforeEach(() => database.query('update webhook_service.events set fanned_out_at = now()'));

  /** Leases that ended, one after the other. */
  const lose = async (userId: string, count: number, endedMs: number) => {
    const prefix = v7().slice(0, 23);
    const rows = await database.query<{ id: string }>(
      `insert into webhook_service.events (id, name, user_id, body, leased_until)
       select ($1 || lpad(to_hex(n), 12, '0'))::uuid, 'job.started', $2, '{}', now() - ($4 - n) * interval '1 ms'
       from generate_series(1, $3::int) as n returning id`,
      [`${prefix}-`, userId, count, endedMs],
    );
    return rows.map(({ id }) => id);
  };
  const usersOf = (events: readonly StoredEvent[]) => [...new Set(events.map(({ userId }) => userId))].sort();

  it('are taken in turns with those of another, whose leases ended first', async () => {
    await lose('busy', 5000, 60_000);
    await lose('other', 2, 2000);
    const { events } = await app.get(SweepRepository).reclaimEvents(PAGE, null);
    expect([events.length, events.filter(({ userId }) => userId === 'other').length]).toEqual([PAGE, 2]);
  });

  it('are found behind any number of another who has enough, page by page', async () => {
    await lose('busy', BEHIND, 60_000);
    const lost = await lose('other', 1, 2000);
    const sweep = app.get(SweepRepository);
    const pages: Awaited<ReturnType<typeof sweep.reclaimEvents>>[] = [];
    do pages.push(await sweep.reclaimEvents(PAGE, null, ['busy'], pages.at(-1)?.next));
    while (pages.at(-1)?.next);
    expect(pages.map(({ events }) => usersOf(events))).toEqual([[], [], ['other']]);
    expect(pages[2]!.events).toEqual([{ id: lost[0], userId: 'other' }]);
  });

  it('are enqueued by the sweep that looks at them, and those of a user with enough later', async () => {
    await lose('busy', BEHIND, 60_000);
    await lose('other', 1, 2000);
    const enough = jest.spyOn(app.get(FanOutService), 'usersWithEnough', 'get').mockReturnValue(['busy']);
    const room = jest.spyOn(app.get(FanOutQueue), 'remaining', 'get').mockReturnValue(Infinity);
    const enqueued: StoredEvent[] = [];
    const queue = jest.spyOn(app.get(FanOutQueue), 'enqueue').mockImplementation(async (events) => {
      enqueued.push(...events);
    });
    try {
      const sweeper = app.get(SweeperService);
      await sweeper.sweep();
      expect(usersOf(enqueued)).toEqual(['other']);
      enough.mockReturnValue([]);
      await sweeper.sweep();
      expect([usersOf(enqueued), enqueued.length]).toEqual([['busy', 'other'], 10 * PAGE + 1]);
    } finally {
      for (const spy of [enough, room, queue]) spy.mockRestore();
    }
  });
});
