import type { Webhook } from '../api/types';

/** True for a webhook without a url, whose events consumers lease. */
export const isPull = ({ kind }: Pick<Webhook, 'kind'>): boolean => kind === 'pull';
