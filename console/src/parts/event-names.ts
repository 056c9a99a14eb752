const NOTICES = ['webhook.failing', 'webhook.healthy'];

/** True when who is subscribed to `pattern` gets events of this name. */
export const covers = (pattern: string, name: string): boolean =>
  pattern === name ||
  (pattern === '*' && !NOTICES.includes(name)) ||
  (pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -1)));

/** False for what comes from the service itself. */
export const canPublish = ({ name }: { name: string }): boolean => !name.startsWith('webhook.');
