import type { Webhook } from '../api/types';
import { plainOf } from './plain';

const MOST = 80;

const shortened = (text: string): string => (text.length > MOST ? `${text.slice(0, MOST - 1)}…` : text);

/** The name of a webhook: its description, or the beginning of its URL without the scheme. */
export const nameOf = ({ description, url }: Pick<Webhook, 'description' | 'url'>): string =>
  plainOf(description?.trim() || shortened(url.replace(/^https?:\/\//, '')));
