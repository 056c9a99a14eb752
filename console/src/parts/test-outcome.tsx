import { Link } from 'wouter-preact';
import { encoded } from '../api/address';
import type { DeliveryDetail } from '../api/types';
import { TEXT } from '../text/en';
import { resultOf } from './delivery-rows';
import { DeliveryStatus } from './status';

/** What came back from a test. */
export const TestOutcome = ({ test }: { test: DeliveryDetail }) => (
  <p class="outcome" role="status">
    <DeliveryStatus of={test} /> <Link href={encoded`/deliveries/${test.id}`}>{resultOf(test)}</Link>
    <span class="unseen">{TEXT.webhook.test}</span>
  </p>
);
