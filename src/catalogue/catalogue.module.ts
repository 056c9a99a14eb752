import { Module } from '@nestjs/common';
import { EventCatalogue } from 'webhook-notification/catalogue';
import { Config } from '../infrastructure/config/config';
import { EventTypesController } from './requests/event-types.controller';
import { EventTypesService } from './requests/event-types.service';
import { StoredTypesRepository } from './stored-types.repository';
import { StoredTypesService } from './stored-types.service';

/** Application of the event types that the service's own modules declare. */
const APPLICATION = 'service';

const catalogueOf = ({ extraEventTypes, eventMaxBytes }: Config): EventCatalogue =>
  new EventCatalogue({ extraEventTypes, eventMaxBytes, application: APPLICATION });

@Module({
  controllers: [EventTypesController],
  providers: [
    { provide: EventCatalogue, inject: [Config], useFactory: catalogueOf },
    EventTypesService,
    StoredTypesRepository,
    StoredTypesService,
  ],
  exports: [EventCatalogue, StoredTypesService],
})
export class CatalogueModule {}
