import { ConfigurableModuleBuilder, Module } from '@nestjs/common';
import { ConsoleLinksService } from './console-links.service';
import { EventsService, type EventsServiceOptions } from './events.service';
import type { ServicePlace } from './transport';
import { webhooksClient, WebhooksClient } from './webhooks.client';

/** The options of an application. */
export interface WebhookNotificationOptions extends EventsServiceOptions {
  /** Used by `WebhooksClient` and `ConsoleLinksService`. Default: the service of the http transport. */
  service?: ServicePlace;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<WebhookNotificationOptions>({
  moduleName: 'WebhookNotification',
})
  .setClassMethodName('forRoot')
  .setExtras({ isGlobal: true }, (definition, { isGlobal }) => ({ ...definition, global: isGlobal }))
  .build();

/**
 * Adds `EventsService`, `WebhooksClient` and `ConsoleLinksService` to a Nest application with any ORM: `forRoot({
 * application, events, transport })`, or `forRootAsync` with `useFactory`, `useClass` or `useExisting`. It adds nothing
 * else: no routes, no workers, no entities.
 */
@Module({
  providers: [
    {
      provide: EventsService,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: (options: WebhookNotificationOptions) => new EventsService(options),
    },
    {
      provide: WebhooksClient,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: ({ service, transport }: WebhookNotificationOptions) => webhooksClient(service ?? transport.service),
    },
    {
      provide: ConsoleLinksService,
      inject: [WebhooksClient],
      useFactory: (client: WebhooksClient) => new ConsoleLinksService(client),
    },
  ],
  exports: [EventsService, WebhooksClient, ConsoleLinksService],
})
export class WebhookNotificationModule extends ConfigurableModuleClass {}
