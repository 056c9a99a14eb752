import type { Webhook } from '../api/types';
import { plainOf } from './plain';

/** What a person calls a webhook: its description, or its address without the scheme. */
export const nameOf = ({ description, url }: Pick<Webhook, 'description' | 'url'>): string =>
  plainOf(description?.trim() || url.replace(/^https?:\/\//, ''));
