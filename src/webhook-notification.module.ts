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
import { type AddedEventType, EventCatalogue } from 'webhook-notification/catalogue';
import type { Config } from './plumbing/config/config';
import { parseConfig } from './plumbing/config/settings';
import { ClockService } from './plumbing/database/clock.service';
import { StatementsService } from './plumbing/database/statements.service';
import { StoredTypesRepository } from './catalogue/stored-types.repository';
import { StoredTypesService } from './catalogue/stored-types.service';
import { EventsRepository } from './events/events.repository';
import { EventsService } from './events/events.service';
import { AcceptedEventsService } from './events/accepted-events.service';
import { FAN_OUT_QUEUE, FanOutQueue } from './events/fan-out.queue';
import { PublicationRulesService } from './events/publication-rules.service';
import { PublishTransactionSubscriber } from './events/publish-transaction.subscriber';
import { HealthService } from './plumbing/health/health.service';
import { MetricsService } from './plumbing/metrics/metrics.service';
import { openGuestQueue } from './plumbing/queue/guest.queue';
import { QueueHealthService } from './plumbing/queue/queue-health.service';

export { ApiError } from './plumbing/errors/api-error';
export type { AddedEventType, EventType, ObjectSchema } from 'webhook-notification/catalogue';
export { EventsService, type PublishedEvent, type PublishOptions } from './events/events.service';

/** What the module needs to know of the service. */
export interface WebhookNotificationOptions {
  /** The service's `REDIS_URL`; absent when the service has none. */
  redisUrl?: string;
  /** The events that this application adds. The service needs their names in `EXTRA_EVENT_TYPES`. */
  eventTypes?: readonly AddedEventType[];
  /** The most bytes that an event's data may have. Default: 98304, like the service's `EVENT_MAX_BYTES`. */
  eventMaxBytes?: number;
}

/** How the module finds what it uses of the host application. */
export interface HostWiring {
  /** The token of the TypeORM data source on the service's database. Default: the token of the default data source. */
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
 * Brings `EventsService` into another Nest application whose data source is on the service's database. It brings
 * nothing else: no routes, no workers, no migrations, nothing global but that service. The service's processes deliver.
 */
@Module({})
export class WebhookNotificationModule implements OnApplicationShutdown {
  constructor(@Inject(QUEUE) private readonly queue: Queue) {}

  /** The module with these options. The start fails when an option is out of bounds or an event type is invalid. */
  static forRoot({ dataSource, ...options }: WebhookNotificationOptions & HostWiring = {}): DynamicModule {
    return WebhookNotificationModule.forRootAsync({ dataSource, useFactory: () => options });
  }

  /** The same with options that a factory makes. */
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

  /** Waits at most 2 s for a store that is away. What was not put on the queue is left to the service's sweeper. */
  async onApplicationShutdown(): Promise<void> {
    const tooLate = new Promise((resolve) => setTimeout(resolve, SHUTDOWN_WITHIN_MS).unref());
    await Promise.race([this.queue.close(), tooLate]);
  }
}

/** What `EventsService` needs, private to the module. */
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
  StoredTypesRepository,
  StoredTypesService,
  PublicationRulesService,
  EventsService,
];

/** Checks the options with the bounds of the service's own settings. */
function settingsOf({ redisUrl, eventMaxBytes }: WebhookNotificationOptions): Settings {
  return parseConfig({ REDIS_URL: redisUrl, EVENT_MAX_BYTES: eventMaxBytes?.toString() });
}

function catalogueOf({ eventTypes = [] }: WebhookNotificationOptions, settings: Settings): EventCatalogue {
  const catalogue = new EventCatalogue(settings);
  for (const type of eventTypes) catalogue.register(type);
  return catalogue;
}

/** The place that the host's own connections go to. */
function placeOf({ options }: DataSource): ClientConfig {
  if (options.type !== 'postgres') {
    throw new Error(`WebhookNotificationModule needs a data source of type postgres, not ${options.type}.`);
  }
  const { url, host, port, username: user, password, database, ssl } = options;
  // TypeORM types `ssl` as the tls.TlsOptions of a server, but passes it to pg unchanged.
  const place = { host, port, user, password, database, ssl } as ClientConfig;
  return url === undefined ? place : { connectionString: url, ssl: place.ssl };
}
