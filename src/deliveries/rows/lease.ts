/**
 * The lease of a row. A pending delivery has a holder until `leased_until`; afterwards the sweeper takes the row. So a delivery
 * survives the loss of any job, queue or process.
 *
 * | holder        | acquires the lease                         | until                       | releases it      |
 * | ------------- | ------------------------------------------ | --------------------------- | ---------------- |
 * | queued job    | when its row is inserted                   | due time + `JOB_LEASE`      | to a worker      |
 * | sweeper's job | when the lease of another holder expires   | now + `JOB_LEASE`           | to a worker      |
 * | none          | when the row is deferred                   | `deferredLease`             | to a worker      |
 * | worker        | by claiming the row when it has a slot     | now + `JOB_LEASE`, extended | with the outcome |
 * | none          | when the row waits for a consumer          | never                       | to a consumer    |
 * | consumer      | by claiming the row                        | now + `leaseSeconds`        | with the outcome |
 *
 * - **Claim**: a worker that has a slot claims the row and reads it, in one statement, and attempts it at once. A claimed row
 *   cannot be claimed again, so any number of jobs may contain it. Only the sweeper ends a claim, when the lease expires.
 * - **Extend**: a worker whose attempt takes longer than 4 s extends the lease of its row every 4 s.
 * - **Release**: a job that could not be enqueued, or that starts too early, sets the end of the lease to the due time: the
 *   sweeper takes the row as soon as it is due. So does a worker that puts a row back after a failure of ours; see
 *   waits.ts.
 * - **Expire**: after `leased_until` the sweeper takes the row and enqueues a job for it. So a row whose job was lost, by a queue
 *   that was emptied or a process that ended, is on its queue again within fifteen seconds of its due time.
 * - **Pull**: a row without a url waits for a consumer, which leases it over the API. No job, slot or sweeper takes it: when the
 *   lease of a consumer ends, `SettlementsService` writes the outcome.
 * - **Stop**: a row whose webhook is disabled or deleted is never claimed. It is canceled, even while leased: see stopping.ts.
 * - **Ahead**: a lease that ends later than any lease can was written while PostgreSQL's clock was ahead. `AheadRowsService`
 *   defers the row and makes it due.
 *
 * Events have such a lease too, until each of their deliveries has a row: five seconds from the insert, then `EVENT_LEASE`,
 * which the worker that claims the event extends. See decision 7 in docs/decisions.md.
 */

/** A queued job holds the lease of its row until its due time plus this; a worker holds it for this long after the claim. */
export const JOB_LEASE = `interval '10 seconds'`;

/** The end of the lease of a row that is inserted with a job, due at `dueAt`; without a url it waits for a consumer. */
export const insertedLease = (url: string, dueAt: string): string =>
  `case when ${url} is null then 'infinity' else ${dueAt} + ${JOB_LEASE} end`;

/** SQL: whether the webhook of a row has a rate. A deferred row of such a webhook waits for it. */
export const hasRate = (row: string): string => `
  (select w.max_per_second from webhook_service.webhooks w where w.id = ${row}.webhook_id) is not null`;

/**
 * The end of the lease of a row that is deferred. It has no job: workers dispatch it, and the sweeper takes it only after an hour.
 * It never takes a row that waits for the rate of its webhook, because that may take days.
 * @param row a row with a column `webhook_id`
 */
export const deferredLease = (row: string): string => `
  case when ${hasRate(row)} then 'infinity' else now() + interval '1 hour' end`;

/** How long a worker holds an event that it fans out, or a job of the sweeper does. */
export const EVENT_LEASE = `interval '10 seconds'`;

/** The id of a lease: the id of its delivery, which finds the row, and 128 random bits, which only the consumer has. */
export interface LeaseKey {
  deliveryId: string;
  /** In the form of a UUID, though all its bits are random. */
  random: string;
}

const LEASE_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-f]{32})$/;

const asUuid = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** Returns the key of a new lease. @param random 16 random bytes */
export const leaseKeyOf = (deliveryId: string, random: Buffer): LeaseKey => ({
  deliveryId,
  random: asUuid(random.toString('hex')),
});

/** Returns the id of a lease as consumers get it. */
export const formatLeaseId = ({ deliveryId, random }: LeaseKey): string =>
  `${deliveryId}.${random.replaceAll('-', '')}`;

/** Returns null for a text that is not the id of a lease. */
export function parseLeaseId(text: string): LeaseKey | null {
  const [, deliveryId, hex] = LEASE_ID.exec(text) ?? [];
  if (deliveryId === undefined || hex === undefined) return null;
  return { deliveryId, random: asUuid(hex) };
}
