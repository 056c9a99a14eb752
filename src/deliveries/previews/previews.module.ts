import { Module } from '@nestjs/common';
import { CatalogueModule } from '../../catalogue/catalogue.module';
import { LogModule } from '../log/log.module';
import { PreviewsController } from './previews.controller';
import { PreviewsService } from './previews.service';

/** Previews of filters and formats, with events that users may see. */
@Module({ imports: [CatalogueModule, LogModule], controllers: [PreviewsController], providers: [PreviewsService] })
export class PreviewsModule {}
