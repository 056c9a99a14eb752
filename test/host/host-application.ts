import 'reflect-metadata';
import { BullModule, InjectQueue, Processor, WorkerHost } from '@nestjs/bullmq';
import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  Post,
  ValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { createRedisBackend, getDefaultBackendFactory, type Job, type Queue } from 'bullmq';
import { IsIn, IsOptional, IsString } from 'class-validator';
// By another name: with its own it would be an optional part of Nest, and of the image.
import { ExpressAdapter } from 'platform-express';
import { DataSource, type EntityManager, type EntitySubscriberInterface, EventSubscriber } from 'typeorm';
import { defineEvent } from 'webhook-notification';
import {
  ConsoleLinksService,
  database,
  EventsService,
  WebhookNotificationModule,
  WebhooksClient,
} from 'webhook-notification/nest';

const { DATABASE_URL, SERVICE_URL, SERVICE_TOKEN, SERVICE_REDIS_URL, HOST_REDIS_URL, SHUTDOWN_HOOKS } = process.env;

const OrderPaid = defineEvent({
  name: 'order.paid',
  description: 'An order was paid.',
  schema: { type: 'object', required: ['orderId'], properties: { orderId: { type: 'string' } } },
  example: { orderId: '2026-0042' },
});

class OrderDto {
  @IsString()
  id: string;

  @IsOptional()
  @IsIn(['rollback', 'die before commit', 'die after commit', 'without transaction'])
  then?: string;
}

/** Somebody else's code around the same transactions: it ends the process where the test asks for it. */
@EventSubscriber()
class Executioner implements EntitySubscriberInterface {
  static at = '';

  beforeTransactionCommit(): void {
    if (Executioner.at === 'die before commit') process.kill(process.pid, 'SIGKILL');
  }

  afterTransactionCommit(): void {
    if (Executioner.at === 'die after commit') process.kill(process.pid, 'SIGKILL');
  }
}

@Processor('mail')
class MailProcessor extends WorkerHost {
  readonly sent: unknown[] = [];

  async process(job: Job<unknown>): Promise<void> {
    this.sent.push(job.data);
  }
}

@Controller()
class OrdersController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly events: EventsService,
    @InjectQueue('mail') private readonly mail: Queue,
    private readonly mails: MailProcessor,
  ) {}

  @Post('orders')
  async pay(@Body() { id, then = '' }: OrderDto): Promise<{ eventId: string | null }> {
    Executioner.at = then;
    if (then === 'without transaction') return this.publish(id);
    return this.dataSource.transaction(async (manager) => {
      await manager.query('insert into orders (id) values ($1)', [id]);
      const published = await this.publish(id, manager);
      if (then === 'rollback') throw new Error('The order is not paid after all.');
      return published;
    });
  }

  @Post('mails')
  async send(@Body() mail: object): Promise<void> {
    await this.mail.add('mail', mail);
  }

  @Get('mails')
  sent(): unknown[] {
    return this.mails.sent;
  }

  @Get('backend')
  backend(): object {
    return { bullIsOnRedis: getDefaultBackendFactory() === createRedisBackend };
  }

  private async publish(orderId: string, tx?: EntityManager): Promise<{ eventId: string | null }> {
    const { id } = await this.events.publish(OrderPaid, { orderId }, { userId: 'alice', ...(tx && { tx }) });
    return { eventId: id };
  }
}

/** What an application of several users does with the API of the service. */
@Controller('users')
class UsersController {
  constructor(
    private readonly webhooks: WebhooksClient,
    private readonly links: ConsoleLinksService,
  ) {}

  @Get('me')
  me(): Promise<object> {
    return this.webhooks.me();
  }

  @Post('link')
  link(@Body() { userId }: { userId: string }): Promise<object> {
    return this.links.create(userId, { path: '/console/webhooks' });
  }
}

@Injectable()
class KeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>();
    return headers['x-host-key'] === 'open sesame';
  }
}

@Module({
  imports: [BullModule.registerQueue({ name: 'mail' })],
  controllers: [OrdersController, UsersController],
  providers: [MailProcessor],
})
class OrdersModule {}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: DATABASE_URL, subscribers: [Executioner], retryAttempts: 0 }),
    BullModule.forRoot({ connection: { url: HOST_REDIS_URL }, prefix: 'host' }),
    WebhookNotificationModule.forRootAsync({
      inject: [DataSource],
      useFactory: (connection: DataSource) => ({
        application: 'shop',
        events: [OrderPaid],
        transport: database({ connection, redisUrl: SERVICE_REDIS_URL }),
        ...(SERVICE_URL && { service: { url: SERVICE_URL, token: SERVICE_TOKEN ?? '' } }),
      }),
    }),
    OrdersModule,
  ],
})
class HostModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(HostModule, new ExpressAdapter(), { logger: ['error', 'warn'] });
  app.useGlobalGuards(new KeyGuard());
  app.useGlobalPipes(new ValidationPipe({ whitelist: true }));
  if (SHUTDOWN_HOOKS !== 'off') app.enableShutdownHooks();
  await app.listen(0, '127.0.0.1');
  process.stdout.write(`listening at ${await app.getUrl()}\n`);
}

void main();
