import { useQuery } from '@tanstack/preact-query';
import type { Query } from '../../api/address';
import { useSigned } from '../../api/signed';
import type { DeliveryCount, Webhook } from '../../api/types';
import { countText, shareOf, shareText } from '../../parts/numbers';
import { Tile, Tiles } from '../../parts/tile';
import { lengthOf, useNow } from '../../parts/time';
import { useStats } from '../../parts/use-stats';
import { TEXT } from '../../text/en';

const DAY_MS = 86_400_000;
const COUNT_EVERY_MS = 60_000;

/** How the last day went, beside the day before. */
export function Figures({ rows }: { rows: readonly Webhook[] }) {
  const now = useNow();
  const [day, before] = [useStats('24 h').data?.totals, useStats('24 h', { isBefore: true }).data?.totals];
  const waiting = useCount('retrying', {});
  const gaveUp = useCount('gave_up', { since: daysAgo(1) });
  const gaveUpBefore = useCount('gave_up', { since: daysAgo(2), until: daysAgo(1) });
  const share = day ? shareOf(day) : null;
  const shareBefore = before ? shareOf(before) : null;
  const points = share !== null && shareBefore !== null ? Math.round((share - shareBefore) * 10) / 10 : null;
  const next = rows.flatMap(({ stats }) => (stats?.nextDueAt ? [Date.parse(stats.nextDueAt)] : [])).sort()[0];
  const { figures } = TEXT.overview;
  return (
    <Tiles>
      <Tile
        name={figures.delivered}
        value={share === null ? '–' : shareText(share)}
        unit={share === null ? undefined : '%'}
        note={points === null ? '' : figures.points(points)}
        tone={points === null || points === 0 ? undefined : points > 0 ? 'good' : 'bad'}
      />
      <Tile
        name={figures.attempts}
        value={day ? countText(day.succeeded) : '–'}
        note={day && figures.perSecond(day.succeeded / (DAY_MS / 1000))}
      />
      <Tile
        name={figures.waiting}
        value={textOf(waiting)}
        note={next !== undefined && figures.next(next > now ? lengthOf(next - now) : null)}
      />
      <Tile
        name={figures.gaveUp}
        value={textOf(gaveUp)}
        note={gaveUpBefore && figures.dayBefore(textOf(gaveUpBefore))}
        tone={(gaveUp?.count ?? 0) > (gaveUpBefore?.count ?? 0) ? 'bad' : undefined}
      />
    </Tiles>
  );
}

const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

function useCount(state: string, times: Query): DeliveryCount | undefined {
  const { api } = useSigned();
  return useQuery({
    queryKey: ['count', state, Object.keys(times)],
    queryFn: ({ signal }) => api.get<DeliveryCount>('deliveries/count', { state, ...times }, signal),
    refetchInterval: COUNT_EVERY_MS,
    staleTime: COUNT_EVERY_MS,
  }).data;
}

const textOf = (of: DeliveryCount | undefined): string => (of ? countText(of.count, of.atLeast) : '–');
