import { ConfigurableModuleBuilder, Module } from '@nestjs/common';
import { EventsService, type EventsServiceOptions } from './events.service';

/** What an application says of itself. */
export type WebhookNotificationOptions = EventsServiceOptions;

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<WebhookNotificationOptions>({
  moduleName: 'WebhookNotification',
})
  .setClassMethodName('forRoot')
  .setExtras({ isGlobal: true }, (definition, { isGlobal }) => ({ ...definition, global: isGlobal }))
  .build();

/**
 * Brings `EventsService` into a Nest application, whatever its ORM: `forRoot({ application, events, transport })`, or
 * `forRootAsync` with `useFactory`, `useClass` or `useExisting`. It brings nothing else: no routes, no workers, no tables.
 */
@Module({
  providers: [
    {
      provide: EventsService,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: (options: WebhookNotificationOptions) => new EventsService(options),
    },
  ],
  exports: [EventsService],
})
export class WebhookNotificationModule extends ConfigurableModuleClass {}
