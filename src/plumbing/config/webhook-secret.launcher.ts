/** The secret that `npm run verify` works with when none is named; no setting of the service. */
export function readWebhookSecret(): string | undefined {
  return process.env.WEBHOOK_SECRET;
}
