import { ApiProperty } from '@nestjs/swagger';

export class LivenessDto {
  /** Always `live`. */
  @ApiProperty({ enum: ['live'] })
  status: 'live';
}

export class ReadinessDto {
  /** Whether every component is healthy. */
  @ApiProperty({ enum: ['ready', 'not ready'] })
  status: 'ready' | 'not ready';

  /** The state of each component: `well` or `not well`. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { postgres: 'well', queue: 'well' },
  })
  checks: Record<string, string>;

  /** A message for each unhealthy component, where the cause is known. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { postgres: 'The database takes no writes.' },
  })
  details?: Record<string, string>;
}
