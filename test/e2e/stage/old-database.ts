import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { restoreDatabase, type TestDatabase } from '../../support/postgres';
import type { Receiver } from '../../support/receiver';
import type { ReceivedCall } from '../../support/receiver';

const FOLDER = resolve('test/upgrade');

/** The names of the webhooks in a database of `test/upgrade`. */
export type WebhookName = 'well' | 'fails' | 'inactive' | 'rotated' | 'slow' | 'recovering' | 'late';
/** Those that only 0.3 has. */
export type NewerName = 'chosen' | 'rated' | 'givesUp' | 'notified' | 'pulled';

/** What a database of `test/upgrade` does not say by itself. */
export interface Facts<Name extends string = WebhookName> {
  secretsKey: string;
  tokens: Record<'alice' | 'bob' | 'reader', string>;
  webhooks: Record<Name, { id: string; secret: string; previousSecret?: string }>;
  /** Events that were published with an idempotency key; without a token: in process. */
  keys: { token: string | null; event: string; data: Record<string, unknown>; key: string; id: string }[];
  account: string;
  recovery: string;
}

export interface FactsOf03 extends Facts<WebhookName | NewerName> {
  tokens: Facts['tokens'] & Record<'carol' | 'dave', string>;
  erasure: string;
  /** A lease that has no acknowledgement. */
  lease: string;
  /** The etags of webhooks by their ids, as 0.3 answered them. */
  etags: Record<string, string>;
}

export interface OldDatabase<F extends Facts<string> = Facts> {
  database: TestDatabase;
  facts: F;
  /** The requests that each webhook gets. */
  calls: Record<keyof F['webhooks'], readonly ReceivedCall[]>;
  /** What each webhook has still to get: ids of events. */
  due: Record<keyof F['webhooks'], string[]>;
}

/** Where finished rows lie, which version of each it is, and in which file: all that a migration must leave as it is. */
export const FINISHED = `
  select tableoid::regclass::text as table, pg_relation_filenode(tableoid) as file, md5(string_agg(xmin || ' ' || ctid, ',' order by id)) as rows
  from (
    select tableoid, xmin, ctid, id from webhook_service.deliveries where status <> 'pending'
    union all
    select tableoid, xmin, ctid, id from webhook_service.events where fanned_out_at is not null
  ) as finished group by tableoid order by 1`;

/** Deliveries that are pending, events that are not fanned out, and those that the recovery has not come to. */
const DUE = `
  select w.description as name, array_agg(distinct due.event_id order by due.event_id) as ids
  from webhook_service.webhooks w join (
    select webhook_id, event_id from webhook_service.deliveries where status = 'pending'
    union all
    select w.id, e.id from webhook_service.webhooks w join webhook_service.events e
      on e.fanned_out_at is null and w.user_id = e.user_id and w.active and w.events && array['*', e.name]
    union all
    select r.webhook_id, e.id from webhook_service.recoveries r join webhook_service.events e
      on e.name = 'parcel.sent' and e.id >= r.first_id and e.id < r.until_id
  ) as due on due.webhook_id = w.id
  group by 1`;

/** Restores a database of `test/upgrade`. Its webhooks lead to hooks of the receiver, which answer 200. */
export async function restoreOldDatabase<F extends Facts<string>>(
  version: '0.2' | '0.3',
  receiver: Pick<Receiver, 'hook'>,
): Promise<OldDatabase<F>> {
  const facts = JSON.parse(readFileSync(`${FOLDER}/database-${version}.json`, 'utf8')) as F;
  const database = await restoreDatabase(gunzipSync(readFileSync(`${FOLDER}/database-${version}.sql.gz`)).toString());
  const calls: Record<string, readonly ReceivedCall[]> = {};
  for (const [name, { id }] of Object.entries(facts.webhooks)) {
    const hook = receiver.hook();
    calls[name] = hook.calls;
    const statement = 'update webhook_service.webhooks set url = $2 where id = $1 and url is not null';
    await database.query(statement, [id, hook.url]);
  }
  const due: Record<string, string[]> = Object.fromEntries(Object.keys(facts.webhooks).map((name) => [name, []]));
  for (const { name, ids } of await database.query<{ name: string; ids: string[] }>(DUE)) due[name] = ids;
  return { database, facts, calls, due } as OldDatabase<F>;
}
