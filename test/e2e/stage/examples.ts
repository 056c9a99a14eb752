const AT = '2026-11-20T10:00:00.000Z';

const FOLLOWER_CHANGE = {
  accountId: '0198c0de-0000-7000-8000-000000000001',
  follower: { id: 'f-17', username: 'ada', displayName: 'Ada Ölçer' },
  followersCount: 42,
  observedAt: AT,
};

const OPERATION = { operationId: 'op-7', type: 'export', startedAt: AT, finishedAt: AT, durationMs: 1250 };
const JOB = { jobId: '17', queue: 'mail', name: 'send' };

/** Data that fits each of the six events of the contract. */
export const EXAMPLES = {
  'operation.complete': { ...OPERATION, result: { rows: 3 } },
  'operation.failed': { ...OPERATION, attempts: 3, error: { name: 'TypeError', message: 'no such file' } },
  'follower.gained': FOLLOWER_CHANGE,
  'follower.lost': FOLLOWER_CHANGE,
  'job.started': { ...JOB, attempt: 1, startedAt: AT },
  'job.completed': { ...JOB, attempts: 1, startedAt: AT, completedAt: AT, durationMs: 0, result: null },
} satisfies Record<string, Record<string, unknown>>;

export type EventName = keyof typeof EXAMPLES;

export const EVENT_NAMES = Object.keys(EXAMPLES) as EventName[];

export const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A well-formed id that nothing has. */
export const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';
