import type { TestDatabase } from './postgres';

/** Returns where the counts differ from the log without tests and pending rows. Nothing may run in the meantime. */
export async function miscountsOf(database: Pick<TestDatabase, 'query'>): Promise<string[]> {
  const rows = await database.query<{ miscount: string }>(`
    with logged as (
      select minutes, webhook_id, status, coalesce(error_code, '') as error_code, response_status is not null as answered,
             count(*) as n
      from webhook_service.deliveries, unnest('{5,60}'::int[]) as minutes
      where trigger <> 'test' and status <> 'pending' group by 1, 2, 3, 4, 5
    ), counted as (
      select minutes::int, webhook_id, status, error_code, duration_class > 0 as answered, sum(count) as n
      from (
        select minutes, webhook_id, status, error_code, duration_class, count from webhook_service.attempt_counts
        union all
        select minutes, webhook_id, status, error_code, duration_class, count
        from webhook_service.recent_attempts, unnest('{5,60}'::int[]) as minutes
      ) as c group by 1, 2, 3, 4, 5
    )
    select concat_ws(' ', minutes, 'min', webhook_id, status, error_code, 'answered:', answered, 'log', l.n, 'counts', c.n)
      as miscount
    from logged l full join counted c using (minutes, webhook_id, status, error_code, answered)
    where coalesce(l.n, 0) <> coalesce(c.n, 0)`);
  return rows.map(({ miscount }) => miscount);
}
