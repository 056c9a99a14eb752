import { type DynamicModule, Module } from '@nestjs/common';
import { EventsService } from '../nest/events.service';
import { TestingEventsService, type TestingOptions } from './testing-events.service';

/** Stands in tests where `WebhookNotificationModule` stands in the application: with the same `EventsService` to inject. */
@Module({})
export class WebhookNotificationTestingModule {
  static forRoot(options: TestingOptions = {}): DynamicModule {
    return WebhookNotificationTestingModule.forRootAsync({ useFactory: () => options });
  }

  /** The same with options that a factory makes, of what it injects. */
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
      ],
      exports: [EventsService, TestingEventsService],
    };
  }
}
