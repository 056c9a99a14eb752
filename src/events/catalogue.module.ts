import { Module } from '@nestjs/common';
import { Config } from '../config/config';
import { EventCatalogue } from './catalogue-registry';

/** The one catalogue of this process. */
@Module({
  providers: [
    { provide: EventCatalogue, inject: [Config], useFactory: (config: Config) => new EventCatalogue(config) },
  ],
  exports: [EventCatalogue],
})
export class CatalogueModule {}
