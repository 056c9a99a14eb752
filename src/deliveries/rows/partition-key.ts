export interface PartitionKey {
  webhookId: string;
  userId: string;
}

/** Number of deliveries of a webhook that may begin now; a slot is acquired for each. */
export interface Grant extends PartitionKey {
  count: number;
}
