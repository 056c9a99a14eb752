import { ConfigurableModuleBuilder, Inject, Module, type OnModuleInit } from '@nestjs/common';
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
 * The application must keep raw bodies: `NestFactory.create(AppModule, { rawBody: true })`.
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
  constructor(@Inject(RECEIPTS) private readonly receipts: Receipts) {
    super();
  }

  async onModuleInit(): Promise<void> {
    await this.receipts.prepare?.();
  }
}
