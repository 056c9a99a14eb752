import { ConfigurableModuleBuilder, Inject, Module, type OnModuleInit, Optional } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { MemoryReceipts } from './memory-receipts';
import type { Receipts } from './receipts';
import { ReceiptsInterceptor } from './receipts.interceptor';
import { ReceiverGuard } from './receiver.guard';
import { RECEIPTS, RECEIVER_OPTIONS, type WebhookReceiverOptions } from './receiver-options';

export type { WebhookReceiverOptions };

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<WebhookReceiverOptions>({
  moduleName: 'WebhookReceiver',
  optionsInjectionToken: RECEIVER_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setExtras({ isGlobal: true }, (definition, { isGlobal }) => ({ ...definition, global: isGlobal }))
  .build();

/**
 * What `@ReceiveWebhooks()` needs: `forRoot({ secret, receipts })`, or `forRootAsync` with `useFactory`, `useClass` or `useExisting`.
 * The application must keep raw bodies: `NestFactory.create(AppModule, { rawBody: true })`; on Express, for the format `cloudevents`,
 * also `app.useBodyParser('json', { type: ['application/json', 'application/cloudevents+json'] })`.
 */
@Module({
  providers: [
    {
      provide: RECEIPTS,
      inject: [RECEIVER_OPTIONS],
      useFactory: ({ receipts }: WebhookReceiverOptions): Receipts => receipts ?? new MemoryReceipts(),
    },
    ReceiverGuard,
    ReceiptsInterceptor,
  ],
  exports: [RECEIPTS, RECEIVER_OPTIONS, ReceiverGuard, ReceiptsInterceptor],
})
export class WebhookReceiverModule extends ConfigurableModuleClass implements OnModuleInit {
  constructor(
    @Inject(RECEIPTS) private readonly receipts: Receipts,
    @Optional() @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost | null,
  ) {
    super();
  }

  async onModuleInit(): Promise<void> {
    acceptCloudEvents(this.host);
    await this.receipts.prepare?.();
  }
}

/** The content type of deliveries in the format `cloudevents`, which Fastify refuses by default. */
const CLOUDEVENTS = 'application/cloudevents+json';

type Done = (error: Error | null, value?: unknown) => void;

interface FastifyLike {
  hasContentTypeParser?(type: string): boolean;
  getDefaultJsonParser(onProto: 'error', onConstructor: 'error'): (request: object, text: string, done: Done) => void;
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer' },
    parse: (request: { rawBody?: Buffer }, body: Buffer, done: Done) => void,
  ): void;
}

/** On Fastify, unless the application has a parser for this type. */
function acceptCloudEvents(host: HttpAdapterHost | null): void {
  const server = host?.httpAdapter?.getInstance<FastifyLike>();
  if (server?.hasContentTypeParser?.(CLOUDEVENTS) !== false) return;
  const parseJson = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser(CLOUDEVENTS, { parseAs: 'buffer' }, (request, body, done) => {
    request.rawBody = body;
    parseJson(request, body.toString(), done);
  });
}
