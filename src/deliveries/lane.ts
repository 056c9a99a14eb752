/** Whose attempt it is. */
export interface Lane {
  webhookId: string;
  userId: string;
}
