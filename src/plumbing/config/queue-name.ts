/** A BullMQ queue as it is named in the settings. */
export interface QueueName {
  /** Null: BullMQ's own default. */
  prefix: string | null;
  name: string;
}

/** A BullMQ queue whose jobs become events. */
export interface MonitoredQueue extends QueueName {
  /** Its jobs are operations too. */
  isAutomation: boolean;
}

const PREFIX = /^(?!.*\/\/)[\x21-\x7e]{1,80}$/;
const NAME = /^[\x21-\x39\x3b-\x7e]{1,80}$/;

/** The service's own queues: an event about the sending of an event would have no end. */
const OWN = /^\{(fan-out|send-\d+)\}$/;

/**
 * Reads `name` or `prefix:name`, printable ASCII without blanks, at most 80 characters each. A name holds no colon
 * (BullMQ refuses it), a prefix may. Null: it is neither, or one of the service's own queues.
 */
export function parseQueueName(text: string): QueueName | null {
  const colon = text.lastIndexOf(':');
  const [prefix, name] = colon < 0 ? [null, text] : [text.slice(0, colon), text.slice(colon + 1)];
  const valid = NAME.test(name) && (prefix === null || PREFIX.test(prefix)) && !OWN.test(name);
  return valid ? { prefix, name } : null;
}
