/**
 * The lease of a row. `leased_until` says until when somebody is responsible for a pending delivery. Nobody else touches
 * the row before that; afterwards the sweeper does. So a delivery survives the loss of any job, queue or process, and
 * two processes do not attempt it at once.
 *
 * | holder                | takes it                        | until                          | gives it up             |
 * | --------------------- | ------------------------------- | ------------------------------ | ----------------------- |
 * | a queued job          | with the insert of its row      | due time + `JOB_LEASE`         | releases it, see below  |
 * | the sweeper's job     | when the old lease has expired  | now + `SWEPT_LEASE`            | never                   |
 * | a parked row (nobody) | when it finds no slot           | now + `PARKED_LEASE`           | when a worker admits it |
 * | a worker, by admitting| the parked row                  | now + `JOB_LEASE`              | with the outcome        |
 * | a slow attempt        | has it, and extends it          | now + `JOB_LEASE`, repeatedly  | with the outcome        |
 * | a test                | with the insert of its row      | deadline + 5 s                 | with the outcome        |
 *
 * - **Extend**: an attempt that takes longer than 4 s extends the lease of its row every 4 s. A job that comes late extends
 *   it before the attempt, if the row still has the lease that the job read.
 * - **Release**: a job that could not be queued, or that comes too early, sets the end of the lease to the due time: the
 *   sweeper takes the row as soon as it is due.
 * - **Reclaim**: the sweeper takes a row whose lease has expired and queues a job for it. A job that owns its delivery's
 *   id reclaims a lease that was released, or that the sweeper has just taken without being able to queue a second job.
 * - **Expire**: after `leased_until` the row is free for the sweeper. When a queue has lost its jobs, the leases of all of
 *   its rows are made to expire within three seconds.
 *
 * Events have such a lease too, until each of their deliveries has a row: five seconds with the insert, then `EVENT_LEASE`,
 * which the worker that fans the event out extends. See decision 16.
 */

/** A queued job holds the lease of its row until its due time plus this. */
export const JOB_LEASE_MS = 10_000;
export const JOB_LEASE = `interval '${JOB_LEASE_MS} milliseconds'`;

/** A parked row has no job. Workers admit it; the sweeper would only do so after this long. */
export const PARKED_LEASE = `interval '1 hour'`;

/** A process knows PostgreSQL's clock to better than this; two times closer together count as equal. */
export const CLOCK_TOLERANCE_MS = 2000;

/**
 * The lease of a job that the sweeper queues. It is longer than any other lease of a due row, so that an older job that
 * comes late can see in the row that the sweeper has replaced it.
 */
export const SWEPT_LEASE = `interval '${JOB_LEASE_MS + CLOCK_TOLERANCE_MS + 500} milliseconds'`;

/** How long a worker that fans an event out holds it, or a job of the sweeper. */
export const EVENT_LEASE = `interval '10 seconds'`;

/** What a queued job says of one of its deliveries. */
export interface Offer {
  deliveryId: string;
  /** The end of the lease that the job holds, in ms since 1970. Undefined: trust the job, whatever the row says. */
  leasedUntilMs: number | undefined;
  /** The job has the delivery's id: while it exists, the queue takes no other job for the delivery. */
  ownsDeliveryId: boolean;
}

/** The lease of a job for a delivery that is due at this time, in ms since 1970. Jobs of the sweeper name no time. */
export const leaseOfJob = (dueAt: number | undefined): number | undefined =>
  dueAt === undefined ? undefined : dueAt + JOB_LEASE_MS;

/**
 * True when the row's lease is not the one that the job holds. It ends later (the sweeper or a worker has taken the row),
 * or much earlier (it was released to the sweeper).
 */
export function isLeasedElsewhere(row: { leasedUntilMs: number }, { leasedUntilMs }: Offer): boolean {
  if (leasedUntilMs === undefined) return false;
  const longerMs = row.leasedUntilMs - leasedUntilMs;
  const wasTaken = longerMs > CLOCK_TOLERANCE_MS;
  const wasReleased = longerMs < -JOB_LEASE_MS / 2;
  return wasTaken || wasReleased;
}
