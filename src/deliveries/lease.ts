/**
 * The lease of a row. `leased_until` says until when somebody is responsible for a pending delivery; afterwards the sweeper
 * takes the row. So a delivery survives the loss of any job, queue or process.
 *
 * | holder        | takes it                                     | until                               | gives it up            |
 * | ------------- | -------------------------------------------- | ----------------------------------- | ---------------------- |
 * | queued job    | with the insert of its row                   | due time + `JOB_LEASE`              | to a worker            |
 * | sweeper's job | when the lease of another holder has expired | now + `JOB_LEASE`                   | to a worker            |
 * | nobody        | when the row is parked for want of a slot    | now + `PARKED_LEASE`                | to a worker            |
 * | worker        | by claiming the row when it has a slot       | now + `JOB_LEASE`, extended         | with the outcome       |
 *
 * - **Claim**: a worker that has a slot claims the row and reads it, in one statement, and attempts it at once. A row that
 *   is claimed is not claimed again, so any number of jobs may offer it. Only the sweeper ends a claim, with the lease.
 * - **Extend**: a worker whose attempt takes longer than 4 s extends the lease of its row every 4 s.
 * - **Release**: a job that could not be queued, or that comes too early, sets the end of the lease to the due time: the
 *   sweeper takes the row as soon as it is due.
 * - **Expire**: after `leased_until` the sweeper takes the row and queues a job for it. When a queue has lost its jobs, the
 *   leases of all of its rows are made to expire within three seconds, claimed and parked ones apart.
 * - **Ahead**: a lease that ends later than any does was written while PostgreSQL's clock was ahead. `AheadRowsService` parks the
 *   row, and it is due.
 *
 * Events have such a lease too, until each of their deliveries has a row: five seconds with the insert, then `EVENT_LEASE`,
 * which the worker that claims the event extends. See decision 16.
 */

/** A queued job holds the lease of its row until its due time plus this; a worker that claims the row, from now on. */
export const JOB_LEASE = `interval '10 seconds'`;

/** A parked row has no job. Workers admit it; the sweeper would only do so after this long. */
export const PARKED_LEASE = `interval '1 hour'`;

/** How long a worker that fans an event out holds it, or a job of the sweeper. */
export const EVENT_LEASE = `interval '10 seconds'`;
