import { ClockService } from '../../../../src/infrastructure/database/clock.service';
import { dayPartitions } from '../../../../src/infrastructure/database/partitions';
import { waitFor } from '../../../support/wait-for';
import { useApplication } from '../../stage/application';
import { DAY_MS } from '../../../../src/infrastructure/config/durations';

describe('When PostgreSQL’s clock jumps while a process runs', () => {
  const { app, database } = useApplication();
  const realNow = performance.now.bind(performance);
  /** The process uses the clock of `performance`, corrected by the time of PostgreSQL every 30 s. */
  const jump = (ms: number) => jest.spyOn(performance, 'now').mockImplementation(() => realNow() + ms);

  afterEach(() => jest.restoreAllMocks());

  it.each([
    ['increase', 'less', 30_000, true],
    ['restart from the correct time', 'more', 3_600_000, false],
  ])('ids %s after it was ahead by %s than a minute', (_, __, aheadMs, increases) => {
    const clock = app.get(ClockService);
    jump(aheadMs);
    const before = clock.newId();
    jest.restoreAllMocks();
    const after = clock.newId();
    expect(after.id > before.id).toBe(increases);
    expect(Math.abs(after.at.getTime() - clock.now().getTime()) < 10_000).toBe(!increases);
  });

  it('the partitions of the new days are created at once', async () => {
    jump(40 * DAY_MS);
    const wanted = dayPartitions('events', app.get(ClockService).now(), 0, 7).map(({ name }) => name);
    const exist = async () =>
      (await database.query('select from pg_tables where tablename = any($1)', [wanted])).length === wanted.length;
    await waitFor(exist, { what: 'the partitions' });
  });
});
