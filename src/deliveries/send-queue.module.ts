import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Queue } from 'bullmq';
import type { Config } from '../infrastructure/config/config';
import { SEND_QUEUES, SendQueue, sendQueueNames } from './send.queue';

/** The send queue, which most delivery modules use. A Redis cluster has several send queues. */
@Global()
@Module({})
export class SendQueueModule {
  static forRoot({ redisUrl }: Config): DynamicModule {
    const names = sendQueueNames(redisUrl);
    const queues = {
      provide: SEND_QUEUES,
      inject: names.map((name) => getQueueToken(name)),
      useFactory: (...all: Queue[]) => all,
    };
    return {
      module: SendQueueModule,
      imports: [BullModule.registerQueue(...names.map((name) => ({ name })))],
      providers: [queues, SendQueue],
      exports: [SendQueue],
    };
  }
}
