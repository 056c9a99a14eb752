import { getQueueToken } from '@nestjs/bullmq';
import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  type InjectionToken,
  Module,
  type ModuleMetadata,
  type OnApplicationShutdown,
  type Provider,
} from '@nestjs/common';
import { Queue } from 'bullmq';
import type { ClientConfig } from 'pg';
import { DataSource } from 'typeorm';
import type { Config } from './plumbing/config/config';
import { parseConfig } from './plumbing/config/settings';
import { ClockService } from './plumbing/database/clock.service';
import { StatementsService } from './plumbing/database/statements.service';
import type { AddedEventType } from './catalogue/catalogue';
import { EventCatalogue } from './catalogue/event-catalogue';
import { EventsRepository } from './events/events.repository';
import { EventsService } from './events/events.service';
import { AcceptedEventsService } from './events/accepted-events.service';
import { FAN_OUT_QUEUE, FanOutQueue } from './events/fan-out.queue';
import { PublishTransactionSubscriber } from './events/publish-transaction.subscriber';
import { HealthService } from './plumbing/health/health.service';
import { MetricsService } from './plumbing/metrics/metrics.service';
import { openGuestQueue } from './plumbing/queue/guest.queue';
import { QueueHealthService } from './plumbing/queue/queue-health.service';

export { ApiError } from './plumbing/errors/api-error';
export type { AddedEventType, EventType, ObjectSchema } from './catalogue/catalogue';
export { EventsService, type PublishedEvent, type PublishOptions } from './events/events.service';
// With a star, so that `declare module 'webhook-notification-service'` can add to EventPayloads.
export * from './catalogue/payloads';

export interface WebhookNotificationOptions {
  /** The service's `REDIS_URL`; left out where the service has none. */
  redisUrl?: string;
  /** The events that this application adds. The service needs their names in `EXTRA_EVENT_TYPES`. */
  eventTypes?: readonly AddedEventType[];
  /** Bytes that an event's data may have: 98304 unless said otherwise, as the service's `EVENT_MAX_BYTES`. */
  eventMaxBytes?: number;
}

export interface HostWiring {
  /** The token of the TypeORM data source on the service's database; the default one unless said otherwise. */
  dataSource?: InjectionToken;
}

export type WebhookNotificationAsyncOptions = HostWiring &
  Pick<ModuleMetadata, 'imports'> &
  Pick<FactoryProvider<WebhookNotificationOptions>, 'inject' | 'useFactory'>;

const OPTIONS = Symbol('options of the webhook notification module');
const SETTINGS = Symbol('settings of the webhook notification module');
const QUEUE = getQueueToken(FAN_OUT_QUEUE);
const SHUTDOWN_WITHIN_MS = 2000;

type Settings = Pick<Config, 'redisUrl' | 'eventMaxBytes' | 'extraEventTypes'>;

/**
 * Brings `EventsService` into another Nest application whose data source is on the service's database, and nothing else:
 * no routes, nothing global but that service, no workers, no migrations. The service's own processes deliver.
 */
@Module({})
export class WebhookNotificationModule implements OnApplicationShutdown {
  constructor(@Inject(QUEUE) private readonly queue: Queue) {}

  static forRoot({ dataSource, ...options }: WebhookNotificationOptions & HostWiring = {}): DynamicModule {
    return WebhookNotificationModule.forRootAsync({ dataSource, useFactory: () => options });
  }

  static forRootAsync(options: WebhookNotificationAsyncOptions): DynamicModule {
    const { imports, inject = [], useFactory, dataSource = DataSource } = options;
    return {
      module: WebhookNotificationModule,
      global: true,
      imports,
      providers: [
        { provide: OPTIONS, inject, useFactory },
        ...(dataSource === DataSource ? [] : [{ provide: DataSource, useExisting: dataSource }]),
        ...PUBLISHING,
      ],
      exports: [EventsService],
    };
  }

  /** Waits no longer for a store that is away: what was not handed on is left to the service's sweeper. */
  async onApplicationShutdown(): Promise<void> {
    const tooLate = new Promise((resolve) => setTimeout(resolve, SHUTDOWN_WITHIN_MS).unref());
    await Promise.race([this.queue.close(), tooLate]);
  }
}

/** What `EventsService` is made of, private to the module. */
const PUBLISHING: Provider[] = [
  { provide: SETTINGS, inject: [OPTIONS], useFactory: settingsOf },
  { provide: EventCatalogue, inject: [OPTIONS, SETTINGS], useFactory: catalogueOf },
  {
    provide: QUEUE,
    inject: [SETTINGS, DataSource, ClockService],
    useFactory: ({ redisUrl }: Settings, dataSource: DataSource, clock: ClockService) =>
      openGuestQueue(FAN_OUT_QUEUE, redisUrl, placeOf(dataSource), clock),
  },
  ClockService,
  StatementsService,
  HealthService,
  QueueHealthService,
  EventsRepository,
  FanOutQueue,
  MetricsService,
  AcceptedEventsService,
  PublishTransactionSubscriber,
  EventsService,
];

/** The same bounds as the service's own settings have. */
function settingsOf({ redisUrl, eventMaxBytes }: WebhookNotificationOptions): Settings {
  return parseConfig({ REDIS_URL: redisUrl, EVENT_MAX_BYTES: eventMaxBytes?.toString() });
}

function catalogueOf({ eventTypes = [] }: WebhookNotificationOptions, settings: Settings): EventCatalogue {
  const catalogue = new EventCatalogue(settings);
  for (const type of eventTypes) catalogue.register(type);
  return catalogue;
}

/** Where the host's own connections go. */
function placeOf({ options }: DataSource): ClientConfig {
  if (options.type !== 'postgres') {
    throw new Error(`WebhookNotificationModule needs a data source of type postgres, not ${options.type}.`);
  }
  const { url, host, port, username: user, password, database, ssl } = options;
  // TypeORM types `ssl` as tls.TlsOptions, which a server has; it hands it to pg as it is.
  const place = { host, port, user, password, database, ssl } as ClientConfig;
  return url === undefined ? place : { connectionString: url, ssl: place.ssl };
}
