import { encoded } from '../../api/address';
import type { Delivery, Webhook } from '../../api/types';
import { DeliveryRows } from '../../parts/delivery-rows';
import { Pages } from '../../parts/pages';
import { TEXT } from '../../text/en';

/** The log of one webhook, or what of it failed for good. */
export const WebhookLog = ({ webhook, onlyNotArrived = false }: { webhook: Webhook; onlyNotArrived?: boolean }) => (
  <Pages<Delivery>
    path={encoded`webhooks/${webhook.id}/deliveries`}
    query={onlyNotArrived ? { givenUp: true } : {}}
    what={TEXT.log.title}
    empty={
      <section class="empty">
        <h2>{onlyNotArrived ? TEXT.webhook.allArrived : TEXT.log.empty}</h2>
      </section>
    }
  >
    {(rows) => <DeliveryRows rows={rows} />}
  </Pages>
);
