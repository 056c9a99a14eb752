import { ApiProperty } from '@nestjs/swagger';
import { MAX_EVENTS } from '../batch-request';
import { PublishEventDto } from './publish-event.dto';

/** Documents the body that `batch-request.ts` reads. */
export class PublishBatchDto {
  /** The events, 1 to 100 of them. */
  @ApiProperty({ type: [PublishEventDto], minItems: 1, maxItems: MAX_EVENTS })
  events: PublishEventDto[];
}
