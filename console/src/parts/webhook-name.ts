import type { Delivery, Webhook } from '../api/types';
import { TEXT } from '../text/en';
import { plainOf } from './plain';

const MOST = 80;

const shortened = (text: string): string => (text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text);

/** The name of a webhook: its description, or the beginning of its URL without the scheme; without both a part of its id. */
export const nameOf = ({ id, description, url }: Pick<Webhook, 'id' | 'description' | 'url'>): string =>
  plainOf(description?.trim() || (url === null ? TEXT.pull.name(id) : shortened(url.replace(/^https?:\/\//, ''))));

/** The URL of a delivery, or the name of its pull webhook without the description. */
export const destinationOf = ({ webhookId, url }: Pick<Delivery, 'webhookId' | 'url'>): string =>
  url === null ? TEXT.pull.name(webhookId) : plainOf(url);
