import { Link } from 'wouter-preact';
import { encoded } from '../api/address';
import type { DeliveryDetail } from '../api/types';
import { TEXT } from '../text/en';
import { resultOf } from './delivery-rows';
import { DeliveryStatus } from './status';

/**
 * The result of a test.
 * @param isLinked false where the page must not be left
 */
export const TestOutcome = ({ test, isLinked = true }: { test: DeliveryDetail; isLinked?: boolean }) => (
  <p class="outcome" role="status">
    <DeliveryStatus of={test} />{' '}
    {isLinked ? <Link href={encoded`/deliveries/${test.id}`}>{resultOf(test)}</Link> : resultOf(test)}
    <span class="unseen">{TEXT.webhook.test}</span>
  </p>
);
