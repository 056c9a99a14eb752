import { ApiError } from '../infrastructure/errors/api-error';

/** Waits for an event about a webhook. It is refused, before any statement, while its user and so the webhook are being erased. */
export async function unlessErased(published: Promise<unknown>): Promise<void> {
  await published.catch((error: unknown) => {
    if (!(error instanceof ApiError && error.code === 'user_erased')) throw error;
  });
}
