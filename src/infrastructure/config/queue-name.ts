export interface QueueName {
  /** Null uses BullMQ's default. */
  prefix: string | null;
  name: string;
}

export interface MonitoredQueue extends QueueName {
  isAutomation: boolean;
}

const PREFIX = /^(?!.*\/\/)[\x21-\x7e]{1,80}$/;
const NAME = /^[\x21-\x39\x3b-\x7e]{1,80}$/;

/** The service's own queues. An event about sending an event would cause another one, endlessly. */
const OWN = /^\{(fan-out|send-\d+)\}$/;

/**
 * Parses `name` or `prefix:name`, each at most 80 printable ASCII characters without spaces. A prefix may contain
 * colons; a name may not, because BullMQ rejects it. Returns null for any other text, and for the service's own queues.
 */
export function parseQueueName(text: string): QueueName | null {
  const colon = text.lastIndexOf(':');
  const [prefix, name] = colon < 0 ? [null, text] : [text.slice(0, colon), text.slice(colon + 1)];
  const valid = NAME.test(name) && (prefix === null || PREFIX.test(prefix)) && !OWN.test(name);
  return valid ? { prefix, name } : null;
}
