import { Module } from '@nestjs/common';
import { AboutController } from './about.controller';

/** What a client may know about the service as a whole. */
@Module({ controllers: [AboutController] })
export class AboutModule {}
