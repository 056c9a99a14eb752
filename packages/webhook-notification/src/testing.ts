export { signDelivery } from './signature/sign-delivery';
export type { KeptEvent } from './testing/kept-events';
export { webhookMatchers } from './testing/matchers';
export { type PublishedInTest, TestingEventsService, type TestingOptions } from './testing/testing-events.service';
export { WebhookNotificationTestingModule } from './testing/webhook-notification-testing.module';
