// Conditions for a figure to be valid. Each function returns problems as sentences; an empty list means that all is
// correct.
import { setTimeout as pause } from 'node:timers/promises';
import { isGenuine } from './signatures.mjs';

const SETTLED_WITHIN_MS = 30_000;

/** Each event reached each webhook exactly once, and nothing else arrived. */
function arrivalProblems(arrivals, eventIds, paths) {
  const wanted = new Set(eventIds.flatMap((id) => paths.map((path) => `${id} ${path}`)));
  const seen = new Set();
  let [repeated, strange] = [0, 0];
  for (const { eventId, path } of arrivals) {
    const key = `${eventId} ${path}`;
    if (!wanted.has(key)) strange++;
    else if (seen.has(key)) repeated++;
    else seen.add(key);
  }
  const missing = wanted.size - seen.size;
  return [
    ...(missing > 0 ? [`${missing} of ${wanted.size} deliveries are missing`] : []),
    ...(repeated > 0 ? [`${repeated} deliveries came more than once`] : []),
    ...(strange > 0 ? [`${strange} requests belong to no delivery`] : []),
  ];
}

/** The requests that the receiver sampled are signed. */
function signatureProblems(samples, secret) {
  const forged = samples.filter((sample) => !isGenuine(sample, secret)).length;
  return [
    ...(samples.length === 0 ? ['no signature was looked at'] : []),
    ...(forged > 0 ? [`${forged} of ${samples.length} signatures do not verify`] : []),
  ];
}

/** Returns the problems of the requests that a group received. */
export function receivedProblems({ arrivals, samples }, { eventIds, paths, secret }) {
  return [...arrivalProblems(arrivals, eventIds, paths), ...signatureProblems(samples, secret)];
}

/** The delivery log has one row for each delivery, and all of them succeeded. */
export async function logProblems(service, { eventIds, webhookIds }) {
  const wanted = eventIds.length * webhookIds.length;
  const read = async () => {
    const [row] = await service.query(LOG, [eventIds, webhookIds]);
    return row;
  };
  let log = await read();
  // Outcomes are written after the receiver has responded.
  for (const until = Date.now() + SETTLED_WITHIN_MS; log.settled < wanted && Date.now() < until; log = await read())
    await pause(100);
  const isComplete = log.rows === wanted && log.succeeded === wanted;
  return isComplete
    ? []
    : [`the log has ${log.rows} rows for ${wanted} deliveries: ${log.succeeded} succeeded, ${log.pending} pending`];
}

const LOG = `
  select count(*)::int as rows,
         count(*) filter (where status = 'succeeded')::int as succeeded,
         count(*) filter (where status = 'pending')::int as pending,
         count(*) filter (where status <> 'pending')::int as settled
  from webhook_service.deliveries where event_id = any($1::uuid[]) and webhook_id = any($2::uuid[])`;
