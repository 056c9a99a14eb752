/** A BullMQ queue as the settings name it. */
export interface QueueName {
  /** Null: the default of BullMQ. */
  prefix: string | null;
  name: string;
}

/** A BullMQ queue whose jobs become events. */
export interface MonitoredQueue extends QueueName {
  /** True when the jobs of the queue are operations too. */
  isAutomation: boolean;
}

const PREFIX = /^(?!.*\/\/)[\x21-\x7e]{1,80}$/;
const NAME = /^[\x21-\x39\x3b-\x7e]{1,80}$/;

/** The service's own queues. An event about the sending of an event would cause another one, without end. */
const OWN = /^\{(fan-out|send-\d+)\}$/;

/**
 * Reads `name` or `prefix:name`, each at most 80 printable ASCII characters without blanks. A prefix may hold colons; a
 * name may not, because BullMQ refuses it. Null when the text is neither, or names one of the service's own queues.
 */
export function parseQueueName(text: string): QueueName | null {
  const colon = text.lastIndexOf(':');
  const [prefix, name] = colon < 0 ? [null, text] : [text.slice(0, colon), text.slice(colon + 1)];
  const valid = NAME.test(name) && (prefix === null || PREFIX.test(prefix)) && !OWN.test(name);
  return valid ? { prefix, name } : null;
}
