import { Module } from '@nestjs/common';
import { Config } from '../plumbing/config/config';
import { EventCatalogue } from './event-catalogue';
import { EventTypesController } from './event-types.controller';

/** The one catalogue of this process. */
@Module({
  controllers: [EventTypesController],
  providers: [
    { provide: EventCatalogue, inject: [Config], useFactory: (config: Config) => new EventCatalogue(config) },
  ],
  exports: [EventCatalogue],
})
export class CatalogueModule {}
