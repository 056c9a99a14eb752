/** What a lease is known by: the delivery, which finds its row, and 128 random bits, which only the consumer has. */
export interface LeaseKey {
  deliveryId: string;
  /** In the form of a UUID, though all its bits are random. */
  random: string;
}

const LEASE_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-f]{32})$/;

const asUuid = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** Returns the key of a new lease. @param random 16 random bytes */
export const leaseKeyOf = (deliveryId: string, random: Buffer): LeaseKey => ({
  deliveryId,
  random: asUuid(random.toString('hex')),
});

/** Returns the id of a lease as consumers get it. */
export const formatLeaseId = ({ deliveryId, random }: LeaseKey): string =>
  `${deliveryId}.${random.replaceAll('-', '')}`;

/** Returns null for a text that is not the id of a lease. */
export function parseLeaseId(text: string): LeaseKey | null {
  const [, deliveryId, hex] = LEASE_ID.exec(text) ?? [];
  if (deliveryId === undefined || hex === undefined) return null;
  return { deliveryId, random: asUuid(hex) };
}
