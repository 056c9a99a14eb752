import { type DynamicModule, Module } from '@nestjs/common';
import { ConsoleLinksService } from '../nest/console-links.service';
import { EventsService } from '../nest/events.service';
import { webhooksClient, WebhooksClient } from '../nest/webhooks.client';
import { TestingEventsService, type TestingOptions } from './testing-events.service';

/**
 * Replaces `WebhookNotificationModule` in tests, with the same injectables. `WebhooksClient` has no service: its calls
 * throw, unless the test overrides that provider.
 */
@Module({})
export class WebhookNotificationTestingModule {
  static forRoot(options: TestingOptions = {}): DynamicModule {
    return WebhookNotificationTestingModule.forRootAsync({ useFactory: () => options });
  }

  /** The same with options from a factory, which receives `inject`. */
  static forRootAsync<Injected extends unknown[]>(options: {
    imports?: DynamicModule['imports'];
    inject?: { [I in keyof Injected]: unknown };
    useFactory: (...injected: Injected) => TestingOptions | Promise<TestingOptions>;
  }): DynamicModule {
    return {
      module: WebhookNotificationTestingModule,
      global: true,
      ...(options.imports && { imports: options.imports }),
      providers: [
        {
          provide: TestingEventsService,
          inject: (options.inject ?? []) as never[],
          useFactory: async (...injected: unknown[]) =>
            new TestingEventsService(await options.useFactory(...(injected as Injected))),
        },
        { provide: EventsService, useExisting: TestingEventsService },
        { provide: WebhooksClient, useFactory: () => webhooksClient() },
        {
          provide: ConsoleLinksService,
          inject: [WebhooksClient],
          useFactory: (client: WebhooksClient) => new ConsoleLinksService(client),
        },
      ],
      exports: [EventsService, TestingEventsService, WebhooksClient, ConsoleLinksService],
    };
  }
}
