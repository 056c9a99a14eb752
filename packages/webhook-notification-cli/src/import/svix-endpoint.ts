import { isDecoded } from 'webhook-notification/cli';
import { type EventNames, eventsOf, eventsProblem } from './event-names';
import { descriptionOf, EXTERNAL_ID, type Found, labelsOf, rateOf } from './wanted-webhook';

/** An endpoint in Svix's list; fields as in its API. */
export interface SvixEndpoint {
  id: string;
  uid: string | null;
  url: string;
  description: string;
  disabled: boolean;
  /** Null: all. */
  filterTypes: readonly string[] | null;
  /** Null: all. */
  channels: readonly string[] | null;
  rateLimit: number | null;
  metadata: Readonly<Record<string, string>>;
}

/** What Svix returns about an endpoint in separate requests. */
export interface SvixDetails {
  secret: string;
  headers: Readonly<Record<string, string>>;
  /** Names of headers whose values Svix does not show. */
  sensitive: readonly string[];
  isTransformed: boolean;
}

/** The beginning of the external ids of an application's endpoints. */
export const prefixOf = (appId: string): string => `svix:${appId}:`;

/** Returns an endpoint of Svix as a webhook: docs/coming-over.md has the table. */
export function foundEndpoint(
  appId: string,
  endpoint: SvixEndpoint,
  details: SvixDetails,
  eventNames: EventNames,
): Found {
  // Not the uid: it may change, and its owner may use the same external id for something else.
  const externalId = `${prefixOf(appId)}${endpoint.id}`;
  const refused = (reason: string): Found => ({ kind: 'refused', name: externalId, reason });
  if (!EXTERNAL_ID.test(externalId)) return refused('its id, or that of its application, cannot be an external id');
  const secret = secretOf(details.secret);
  if (secret === null) return refused(UNUSABLE_SECRET);
  const events = endpoint.filterTypes === null ? ['*'] : eventsOf(endpoint.filterTypes, eventNames);
  const problem = eventsProblem(events);
  if (problem !== null) return refused(problem);

  const { metadata, notes: labelNotes } = labelsOf([
    ...(endpoint.uid === null ? [] : [['svix-uid', endpoint.uid] as const]),
    ...Object.entries(endpoint.metadata),
  ]);
  const { description, notes: descriptionNotes } = descriptionOf(endpoint.description);
  const { maxPerSecond, notes: rateNotes } = rateOf(endpoint.rateLimit);
  return {
    kind: 'webhook',
    webhook: {
      ...{ externalId, url: endpoint.url, events, secret, description, metadata, maxPerSecond },
      headers: details.headers,
      hiddenHeaders: details.sensitive,
      isDisabled: endpoint.disabled,
      obstacles: [
        ...(endpoint.channels === null
          ? []
          : [`it listens to the channels ${endpoint.channels.join(', ')} only: channels have no counterpart here`]),
        ...(details.isTransformed ? ['Svix transforms its payloads: transformations have no counterpart here'] : []),
      ],
      notes: [...labelNotes, ...descriptionNotes, ...rateNotes],
    },
  };
}

const UNUSABLE_SECRET =
  'its secret is not base64 of 24 to 64 bytes, so receivers could not verify with it: rotate it at Svix first';

/**
 * Returns a secret of Svix (base64, with or without `whsec_`) as this service takes it for the same key; null when it
 * would sign with another key.
 */
export function secretOf(key: string): string | null {
  const encoded = key.replace(/^whsec_/, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return null;
  // Canonical base64, so that each import declares the same. The bytes, which are the key, stay the same.
  const secret = `whsec_${Buffer.from(encoded, 'base64').toString('base64')}`;
  return isDecoded(secret) ? secret : null;
}
