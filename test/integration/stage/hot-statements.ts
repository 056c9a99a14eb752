import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import type { FirstAttempt, Outcome } from '../../../src/deliveries/rows/attempt';
import { WaitingRowsRepository } from '../../../src/deliveries/rows/waiting-rows.repository';
import { FanOutRepository } from '../../../src/deliveries/fan-out/fan-out.repository';
import { firstDeliveryId } from '../../../src/deliveries/fan-out/first-delivery-id';
import { ConsumerLeasesRepository } from '../../../src/deliveries/pulling/consumer-leases.repository';
import { ChangesRepository } from '../../../src/deliveries/log/changes.repository';
import { ClaimsRepository } from '../../../src/deliveries/rows/claims.repository';
import { OutcomesRepository } from '../../../src/deliveries/rows/outcomes.repository';
import type { RetentionCutoffService } from '../../../src/deliveries/rows/retention-cutoff.service';
import { DeferredRepository } from '../../../src/deliveries/slots/deferred.repository';
import { SweepRepository } from '../../../src/deliveries/sweeping/sweep.repository';
import { EventsRepository } from '../../../src/events/events.repository';
import type { ClockService } from '../../../src/infrastructure/database/clock.service';
import { StatementsService } from '../../../src/infrastructure/database/statements.service';
import { StatsRepository } from '../../../src/webhooks/stats/stats.repository';
import type { BusyDay } from './busy-day';

/** Prepares rows for a statement, and returns what runs it. */
export type HotStatement = () => Promise<() => Promise<unknown>>;

const BATCH = 20;
const URL = 'https://receiver.example/';
const FIRST_KEY = { userId: '', webhookId: '00000000-0000-0000-0000-000000000000' };

/** The statements of the hot path, each about a batch of rows of which half lie far apart in the day. */
export function hotStatements(dataSource: DataSource, day: BusyDay): Record<string, HotStatement> {
  const statements = new StatementsService(dataSource);
  const clock = { newId: () => ({ id: v7(), at: new Date() }) } as ClockService;
  const events = new EventsRepository(statements);
  const fanOut = new FanOutRepository(statements);
  const outcomes = new OutcomesRepository(statements, clock);
  const claims = new ClaimsRepository(statements, outcomes);
  const waiting = new WaitingRowsRepository(statements, dataSource, clock, {} as RetentionCutoffService);
  const deferred = new DeferredRepository(statements);
  const sweep = new SweepRepository(dataSource, statements);
  const stats = new StatsRepository(statements);
  const changes = new ChangesRepository(statements);
  const leases = new ConsumerLeasesRepository(statements);

  const event = () => ({
    id: v7(),
    name: 'job.started',
    userId: 'busy',
    publisherId: 'busy',
    body: '{}',
    subject: null,
    traceparent: null,
  });
  const claimEvents = async (ids: string[], oldIds: string[] = []) => {
    await fanOut.claim(ids, oldIds);
  };
  const insertFirst = async (failed: boolean) => {
    const ids = await day.publish(BATCH);
    const rows = ids.map((id) => ({
      first: firstOf(id, day),
      outcome: outcomeOf(firstDeliveryId(id, day.busy.webhookId), failed),
      deferred: false,
    }));
    return () => Promise.all(rows.map((row) => outcomes.insert(row)));
  };
  const record = async (failed: boolean) => {
    const ids = await day.deliver(BATCH, { claimed: true });
    return () => Promise.all(ids.map((id) => outcomes.update(outcomeOf(id, failed))));
  };

  const lease = () => claims.claimWaiting(day.pulled.webhookId, BATCH, 60);
  const leased = async () => {
    const rows = await lease();
    if (!day.isEmpty && rows.length < BATCH) throw new Error('Not as many deliveries were leased.');
    const keys = rows.map(({ id: deliveryId }) => ({ deliveryId, random: randomUUID() }));
    await claims.hold(keys.map((key) => ({ ...key, requestHeaders: {}, formatted: null })));
    // Statements on no rows would not be planned.
    return keys.length > 0 ? keys : [{ deliveryId: v7(), random: randomUUID() }];
  };

  return {
    // First: on a slow machine leases of rows of other statements end before a sweep, which reads them, too.
    'sweeps events': async () => {
      await day.expire('events', await day.publish(BATCH));
      return () => sweep.reclaimEvents(1000, 10_000);
    },
    'sweeps deliveries': async () => {
      await day.expire('deliveries', await day.deliver(BATCH));
      return () => waiting.reclaim(1000, 10_000);
    },
    'sweeps when no lease has ended': async () => async () => {
      await sweep.reclaimEvents(1000, 10_000);
      await waiting.reclaim(1000, 10_000);
    },
    'publishes an event': async () => () => events.insert([event()]),
    'publishes an event with a key': async () => () =>
      events.insertKeyed(event(), { publisherId: 'busy', key: v7(), fingerprint: Buffer.from('') }),
    'claims new events': async () => {
      const ids = await day.publish(BATCH);
      return () => claimEvents(ids);
    },
    'claims events of everybody': async () => {
      const ids = await day.publish(BATCH, null);
      return () => claimEvents(ids);
    },
    'claims swept events': async () => {
      const ids = await day.publish(BATCH);
      await day.expire('events', ids);
      return () => claimEvents([], ids);
    },
    'holds events': async () => {
      const ids = await day.publish(BATCH);
      return () => fanOut.hold(ids);
    },
    'completes events': async () => {
      const ids = await day.publish(BATCH);
      return () => Promise.all(ids.map((id) => fanOut.complete(id)));
    },
    'inserts first attempts': () => insertFirst(false),
    'inserts deliveries for consumers': async () => {
      const ids = await day.publish(BATCH);
      const { webhookId } = day.pulled;
      const rows = ids.map((id) => ({
        first: { ...firstOf(id, day), ...day.pulled, id: firstDeliveryId(id, webhookId), url: null },
        outcome: null,
        deferred: false,
      }));
      return () => Promise.all(rows.map((row) => outcomes.insert(row)));
    },
    'inserts first attempts that failed': () => insertFirst(true),
    'records successes': () => record(false),
    'records failures': () => record(true),
    'extends leases': async () => {
      const ids = await day.deliver(BATCH, { claimed: true });
      return () => claims.extendLeases(ids);
    },
    'releases leases': async () => {
      const ids = await day.deliver(BATCH);
      return () => waiting.releaseLeases(ids);
    },
    'waits for the egress proxy': async () => {
      const ids = await day.deliver(BATCH, { claimed: true });
      return () => Promise.all(ids.map((id) => waiting.putBack(id, 'proxy')));
    },
    'claims deliveries': async () => {
      const ids = await day.deliver(BATCH);
      return async () => {
        const claimed = await Promise.all(ids.map((id) => claims.claim(id)));
        if (!day.isEmpty && claimed.includes(null)) throw new Error('Not every delivery was claimed.');
      };
    },
    'defers deliveries': async () => {
      const ids = await day.deliver(BATCH);
      return () => Promise.all(ids.map((id) => waiting.defer(id)));
    },
    'dispatches deferred deliveries': async () => () => claims.claimDeferred([{ ...day.behind, count: BATCH }]),
    'finds the webhooks with deferred deliveries': async () => () => deferred.keys(FIRST_KEY, 1000),
    'leases deliveries to a consumer': async () => lease,
    'stores what a consumer gets': async () => {
      const [key] = await leased();
      return () => claims.hold([{ ...key!, requestHeaders: {}, formatted: null }]);
    },
    'finds leases': async () => {
      const keys = await leased();
      return () => leases.held(day.pulled.webhookId, keys);
    },
    'finds leases that have ended': async () => {
      const keys = await leased();
      await day.expire(
        'deliveries',
        keys.map(({ deliveryId }) => deliveryId),
      );
      return () => leases.ended(1000, []);
    },
    'looks for what consumers wait for': async () => () => leases.waitedFor([day.pulled.webhookId], []),
    'sums attempts up': async () => {
      await day.count(200);
      return () => stats.rollUp();
    },
    'looks up the last success': async () => () => stats.lastTimes([day.failing.webhookId, day.busy.webhookId]),
    'polls changes': async () => {
      const from = await changes.now();
      await day.deliver(BATCH);
      return () => changes.poll([{ userId: 'busy', from }], []);
    },
  };
}

function outcomeOf(deliveryId: string, failed: boolean): Outcome {
  const sent = { url: URL, attemptedAt: new Date(), durationMs: 5, requestHeaders: {}, formatted: null };
  const exchange = { ...sent, response: null };
  if (!failed)
    return { deliveryId, status: 'succeeded', error: null, exchange, retryInMs: null, finalStatus: 'succeeded' };
  const error = { code: 'http_status', message: 'It answered 500.' } as const;
  return { deliveryId, status: 'failed', error, exchange, retryInMs: 30_000, finalStatus: null };
}

function firstOf(eventId: string, { busy }: BusyDay): FirstAttempt {
  return {
    ...{
      id: firstDeliveryId(eventId, busy.webhookId),
      ...busy,
      eventId,
      event: 'job.started',
      attempt: 1,
      trigger: 'event',
    },
    ...{
      body: '{}',
      subject: null,
      traceparent: null,
      audience: null,
      webhook: null,
      url: URL,
      scheduledAt: new Date(),
      completesEvent: true,
    },
  };
}
