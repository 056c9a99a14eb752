import { createHash } from 'node:crypto';

/** A UUIDv7 (RFC 9562) of the event's time and a hash of both ids: fanning out twice makes the same rows. */
export function firstDeliveryId(eventId: string, webhookId: string): string {
  const hash = createHash('sha256').update(`${eventId}/${webhookId}`).digest('hex');
  const variant = ((parseInt(hash.slice(4, 5), 16) & 0x3) | 0x8).toString(16);
  return `${eventId.slice(0, 13)}-7${hash.slice(0, 3)}-${variant}${hash.slice(5, 8)}-${hash.slice(8, 20)}`;
}
