import { Injectable } from '@nestjs/common';
import { TEST_EVENT_TYPE } from 'webhook-notification/catalogue';
import { UserSharesService } from '../../auth/limits/user-shares.service';
import { StoredTypesService } from '../../catalogue/stored-types.service';
import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';
import { explainFilter } from '../../webhooks/filter/explain-filter';
import { WebhooksService } from '../../webhooks/webhooks.service';
import { DeliveryLogService, type LoggedDelivery } from '../log/delivery-log.service';
import { ClaimsRepository } from '../rows/claims.repository';
import { WaitingRowsRepository } from '../rows/waiting-rows.repository';
import { AttemptsService } from '../sending/attempts.service';

/** A test delivery, and whether the webhook's filter, if it has one, would let such an event through. */
export type TestedDelivery = LoggedDelivery & { matchesFilter?: boolean };

/** Sends a test payload now, through the same sender as every delivery, and waits for its outcome. */
@Injectable()
export class TestDeliveriesService {
  constructor(
    private readonly types: StoredTypesService,
    private readonly webhooks: WebhooksService,
    private readonly rows: WaitingRowsRepository,
    private readonly claims: ClaimsRepository,
    private readonly attempts: AttemptsService,
    private readonly log: DeliveryLogService,
    private readonly shares: UserSharesService,
  ) {}

  async run(userId: string, webhookId: string, event: string = TEST_EVENT_TYPE.name): Promise<TestedDelivery> {
    const { webhook, data, delivery } = await this.shares.during(userId, () => this.begin(userId, webhookId, event));
    await this.attempts.make(delivery);
    const logged = await this.shares.during(userId, () => this.log.readKept(userId, webhookId, delivery.id));
    const { filter } = webhook;
    return filter ? { ...logged, matchesFilter: explainFilter(filter, { event, userId, data }).matches } : logged;
  }

  private async begin(userId: string, webhookId: string, event: string) {
    const webhook = await this.webhooks.read(userId, { id: webhookId });
    if (webhook.kind === 'pull') throw new ApiError('kind_mismatch', MESSAGES.notPushed);
    const data = await this.exampleOf(event, webhookId);
    const id = await this.rows.insertTest(webhook, event, data);
    const delivery = id && (await this.claims.claim(id));
    if (!delivery) throw new ApiError('test_running', MESSAGES.testInFlight);
    return { webhook, data, delivery };
  }

  private async exampleOf(event: string, webhookId: string): Promise<object> {
    if (event === TEST_EVENT_TYPE.name) return { ...TEST_EVENT_TYPE.example, webhookId };
    return (await this.types.find(event)).example;
  }
}
