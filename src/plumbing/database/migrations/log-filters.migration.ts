import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The filters of the logs. What is rare in a log is found without reading what is not. Of deliveries those that did not
 * succeed, and those that no event caused, have indexes of their own, so that an ordinary one writes none of these.
 */
export class LogFilters1763730000000 implements MigrationInterface {
  name = 'LogFilters1763730000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [DELIVERIES, EVENTS, STATISTICS]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [NO_STATISTICS, OLD_EVENTS, OLD_DELIVERIES]) await queryRunner.query(statement);
  }
}

const DELIVERIES = `
  create index deliveries_webhook_failed on webhook_service.deliveries (webhook_id, status, id)
    where status in ('failed', 'canceled');
  create index deliveries_user_failed on webhook_service.deliveries (user_id, status, id)
    where status in ('failed', 'canceled');
  create index deliveries_webhook_trigger on webhook_service.deliveries (webhook_id, trigger, id)
    where trigger <> 'event';
  create index deliveries_user_trigger on webhook_service.deliveries (user_id, trigger, id)
    where trigger <> 'event';
  create index deliveries_user_event on webhook_service.deliveries (user_id, event, id);
`;

const OLD_DELIVERIES = `
  drop index webhook_service.deliveries_webhook_failed;
  drop index webhook_service.deliveries_user_failed;
  drop index webhook_service.deliveries_webhook_trigger;
  drop index webhook_service.deliveries_user_trigger;
  drop index webhook_service.deliveries_user_event;
`;

/**
 * Of publishers only what they published for others: what was for themselves is found as their own, and what was published
 * in process has none.
 */
const EVENTS = `
  drop index webhook_service.events_publisher;
  create index events_publisher on webhook_service.events (nullif(publisher_id, user_id), id)
    where nullif(publisher_id, user_id) is not null;
  create index events_publisher_name on webhook_service.events (nullif(publisher_id, user_id), name, id)
    where nullif(publisher_id, user_id) is not null;
  create index events_user_name on webhook_service.events (user_id, name, id);
`;

const OLD_EVENTS = `
  drop index webhook_service.events_publisher;
  drop index webhook_service.events_publisher_name;
  drop index webhook_service.events_user_name;
  create index events_publisher on webhook_service.events (publisher_id, id) where publisher_id is distinct from user_id;
`;

/**
 * Which values come together: of a webhook that never fails PostgreSQL would otherwise believe that it fails as often as
 * the others do, and look for its failures among all deliveries; and of whoever publishes for himself, that he does so for
 * others. A day is made like its table; those that are there already get theirs here.
 */
const STATISTICS = `
  do $$
  declare day name;
  begin
    for day in select relname from pg_partition_tree('webhook_service.deliveries') join pg_class on oid = relid loop
      execute format('create statistics webhook_service.%I (mcv) on user_id, webhook_id, event, trigger, status
                      from webhook_service.%I', day || '_filters', day);
    end loop;
    for day in select relname from pg_partition_tree('webhook_service.events') join pg_class on oid = relid loop
      execute format('create statistics webhook_service.%I on (nullif(publisher_id, user_id))
                      from webhook_service.%I', day || '_publishers', day);
    end loop;
  end $$;
`;

const NO_STATISTICS = `
  do $$
  declare known text;
  begin
    for known in
      select format('%I.%I', n.nspname, s.stxname)
      from pg_statistic_ext s
      join (
        select relid from pg_partition_tree('webhook_service.deliveries')
        union all
        select relid from pg_partition_tree('webhook_service.events')
      ) as t on t.relid = s.stxrelid
      join pg_namespace n on n.oid = s.stxnamespace
    loop
      execute 'drop statistics ' || known;
    end loop;
  end $$;
`;
