import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { restoreDatabase, type TestDatabase } from '../../support/postgres';
import type { Receiver } from '../../support/receiver';
import type { ReceivedCall } from '../../support/receiver';

const FOLDER = resolve('test/upgrade');

/** The names of the webhooks in the database of `test/upgrade`. */
export type WebhookName = 'well' | 'fails' | 'inactive' | 'rotated' | 'slow' | 'recovering' | 'late';

/** What the database of `test/upgrade` does not say by itself. */
export interface Facts {
  secretsKey: string;
  tokens: Record<'alice' | 'bob' | 'reader', string>;
  webhooks: Record<WebhookName, { id: string; secret: string; previousSecret?: string }>;
  /** Events that were published with an idempotency key; without a token: in process. */
  keys: { token: string | null; event: string; data: Record<string, unknown>; key: string; id: string }[];
  account: string;
  recovery: string;
}

export interface OldDatabase {
  database: TestDatabase;
  facts: Facts;
  /** The requests that each webhook gets. */
  calls: Record<WebhookName, readonly ReceivedCall[]>;
  /** What each webhook has still to get: ids of events. */
  due: Record<WebhookName, string[]>;
}

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

/** Restores the database of version 0.2 in `test/upgrade`. Its webhooks lead to hooks of the receiver, which answer 200. */
export async function restoreOldDatabase(receiver: Pick<Receiver, 'hook'>): Promise<OldDatabase> {
  const facts = JSON.parse(readFileSync(`${FOLDER}/database-0.2.json`, 'utf8')) as Facts;
  const database = await restoreDatabase(gunzipSync(readFileSync(`${FOLDER}/database-0.2.sql.gz`)).toString());
  const calls: Record<string, readonly ReceivedCall[]> = {};
  for (const [name, { id }] of Object.entries(facts.webhooks)) {
    const hook = receiver.hook();
    calls[name] = hook.calls;
    await database.query('update webhook_service.webhooks set url = $2 where id = $1', [id, hook.url]);
  }
  const due: Record<string, string[]> = Object.fromEntries(Object.keys(facts.webhooks).map((name) => [name, []]));
  for (const { name, ids } of await database.query<{ name: string; ids: string[] }>(DUE)) due[name] = ids;
  return { database, facts, calls, due };
}
