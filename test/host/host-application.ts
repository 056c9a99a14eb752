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
  Optional,
  Post,
  ValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { createRedisBackend, getDefaultBackendFactory, type Job, type Queue } from 'bullmq';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { DataSource, type EntityManager, type EntitySubscriberInterface, EventSubscriber } from 'typeorm';
import { EventCatalogue } from 'webhook-notification/catalogue';
import { Config } from '../../src/plumbing/config/config';
import { ClockService } from '../../src/plumbing/database/clock.service';
import { EventsService, WebhookNotificationModule } from '../../src/webhook-notification.module';
import { ORDER_PAID } from './order-events';

const { DATABASE_URL, SERVICE_REDIS_URL, HOST_REDIS_URL } = process.env;

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

/** What must not be in the host's global scope. */
@Injectable()
class ForeignParts {
  constructor(
    @Optional() private readonly config?: Config,
    @Optional() private readonly clock?: ClockService,
    @Optional() private readonly catalogue?: EventCatalogue,
  ) {}

  get found(): boolean {
    return [this.config, this.clock, this.catalogue].some((part) => part !== undefined);
  }
}

@Controller()
class OrdersController {
  constructor(
    private readonly dataSource: DataSource,
    private readonly events: EventsService,
    @InjectQueue('mail') private readonly mail: Queue,
    private readonly mails: MailProcessor,
    private readonly foreign: ForeignParts,
  ) {}

  @Post('orders')
  async pay(@Body() { id, then = '' }: OrderDto): Promise<{ eventId: string }> {
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

  @Get('surroundings')
  surroundings(): object {
    return { foreignParts: this.foreign.found, bullIsOnRedis: getDefaultBackendFactory() === createRedisBackend };
  }

  private async publish(orderId: string, manager?: EntityManager): Promise<{ eventId: string }> {
    const { id } = await this.events.publish('order.paid', { orderId }, { userId: 'alice', manager });
    return { eventId: id };
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
  controllers: [OrdersController],
  providers: [ForeignParts, MailProcessor],
})
class OrdersModule {}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: DATABASE_URL, subscribers: [Executioner], retryAttempts: 0 }),
    BullModule.forRoot({ connection: { url: HOST_REDIS_URL }, prefix: 'host' }),
    WebhookNotificationModule.forRoot({ redisUrl: SERVICE_REDIS_URL, eventTypes: [ORDER_PAID] }),
    OrdersModule,
  ],
})
class HostModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create<NestFastifyApplication>(HostModule, new FastifyAdapter(), { logger: ['error'] });
  app.useGlobalGuards(new KeyGuard());
  app.useGlobalPipes(new ValidationPipe({ whitelist: true }));
  app.enableShutdownHooks();
  await app.listen(0, '127.0.0.1');
  process.stdout.write(`listening at ${await app.getUrl()}\n`);
}

void main();
