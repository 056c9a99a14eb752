import { encoded } from '../api/address';
import { type Api, CallError } from '../api/call';

const ID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i;
const KINDS = ['deliveries', 'events', 'webhooks'] as const;

/** Returns the id in a text, such as a line with `webhook-id`; null without one. */
export const idIn = (text: string): string | null => ID.exec(text)?.[0].toLowerCase() ?? null;

/**
 * Returns the path of the screen of the delivery, event or webhook with this id; null when the user has none.
 * @throws CallError when the service cannot say
 */
export async function placeOf(api: Api, id: string): Promise<string | null> {
  const places = await Promise.all(
    KINDS.map((kind) =>
      api.get(encoded`${kind}/${id}`).then(
        () => encoded`/${kind}/${id}`,
        (error: unknown) => {
          if (error instanceof CallError && [403, 404].includes(error.status)) return null;
          throw error;
        },
      ),
    ),
  );
  return places.find((place) => place !== null) ?? null;
}
