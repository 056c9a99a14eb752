import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ADMIN, type Principal } from '../auth/access-token';
import { CurrentUser, Scopes } from '../auth/route.decorator';
import { retryDelayMs } from '../deliveries/sending/backoff';
import { Config } from '../infrastructure/config/config';
import { version } from '../infrastructure/config/version';
import { ApiAnswer, ApiRoute } from '../infrastructure/http/api-answer.decorator';
import { AboutDto } from './dto/about.dto';

const MEAN = 0.5;

@ApiTags('Access')
@Controller('api/about')
export class AboutController {
  constructor(private readonly config: Config) {}

  @Get()
  @Scopes()
  @ApiRoute('Read the settings', 'Returns the version and the settings that affect clients.')
  @ApiAnswer(AboutDto, 'The version and the settings.')
  getAbout(@CurrentUser() { userId }: Principal): AboutDto {
    const { maxRetries, retentionDays, deliveryTimeoutMs, disableAfterFailures, disableAfterHours } = this.config;
    const attempts = Array.from({ length: maxRetries }, (_, i) => i + 1);
    return {
      version,
      retentionDays,
      maxRetries,
      retryDelaysMs: attempts.map((attempt) => retryDelayMs(attempt, this.config, MEAN) ?? 0),
      deliveryTimeoutMs,
      disableAfterFailures,
      disableAfterHours,
      maxWebhooksPerUser: this.config.maxWebhooksPerUser,
      eventMaxBytes: this.config.eventMaxBytes,
      requestsPerMinute: this.config.rateLimitPerMinute,
      headerPrefixes: this.config.headerPrefix,
      userAgent: this.config.userAgent,
      console: this.config.console,
      tryReceiver: this.config.isLocal,
      bootstrapToken: userId === ADMIN && this.config.bootstrapToken !== null,
    };
  }
}
