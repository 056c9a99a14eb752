/**
 * Returns what the sealed value of a header is bound to: the webhook, the origin of its url (scheme, host and port), and the name.
 * @param url the url of the webhook, or any other url of the same origin
 */
export const headerContext = (webhookId: string, url: string, name: string): string =>
  `${webhookId} ${new URL(url).origin} ${name.toLowerCase()}`;
