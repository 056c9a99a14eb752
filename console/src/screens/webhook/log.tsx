import { encoded } from '../../api/address';
import type { Delivery, Webhook } from '../../api/types';
import { DeliveryRows } from '../../parts/delivery-rows';
import { Pages } from '../../parts/pages';
import { TEXT } from '../../text/en';

/** The log of one webhook. */
export const WebhookLog = ({ webhook }: { webhook: Webhook }) => (
  <Pages<Delivery>
    path={encoded`webhooks/${webhook.id}/deliveries`}
    what={TEXT.log.title}
    empty={
      <section class="empty">
        <h2>{TEXT.log.empty}</h2>
      </section>
    }
  >
    {(rows) => <DeliveryRows rows={rows} />}
  </Pages>
);
