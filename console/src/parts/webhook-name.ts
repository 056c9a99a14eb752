import type { Webhook } from '../api/types';
import { plainOf } from './plain';

/** The name of a webhook: its description, or its URL without the scheme. */
export const nameOf = ({ description, url }: Pick<Webhook, 'description' | 'url'>): string =>
  plainOf(description?.trim() || url.replace(/^https?:\/\//, ''));
