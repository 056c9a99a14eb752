import { Module } from '@nestjs/common';
import { EventCatalogue } from 'webhook-notification/catalogue';
import { Config } from '../plumbing/config/config';
import { EventTypesController } from './requests/event-types.controller';
import { EventTypesService } from './requests/event-types.service';
import { StoredTypesRepository } from './stored-types.repository';
import { StoredTypesService } from './stored-types.service';

/** The application of the service itself: that of its modules' event types. */
const APPLICATION = 'service';

const catalogueOf = ({ extraEventTypes, eventMaxBytes }: Config): EventCatalogue =>
  new EventCatalogue({ extraEventTypes, eventMaxBytes, application: APPLICATION });

/** The one catalogue of this process, and what is stored for all of them. */
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
