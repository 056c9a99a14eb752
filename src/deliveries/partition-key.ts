/** The webhook of a delivery, and its owner. */
export interface PartitionKey {
  webhookId: string;
  userId: string;
}
