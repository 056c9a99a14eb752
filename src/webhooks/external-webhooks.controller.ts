import { Body, Controller, Delete, Get, Headers, Put, Query, Res } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../auth/access-token';
import { CurrentUser, Scopes } from '../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute, BODY_ERRORS } from '../infrastructure/http/api-answer.decorator';
import { Rules } from '../infrastructure/validation/api-request.decorator';
import { WebhookDeclarationDto } from './dto/webhook-fields.dto';
import { ReadWebhookDto } from './dto/list-webhooks.dto';
import { ExternalIdParam } from './dto/webhook-fields.decorator';
import { CreatedWebhookDto, DeletedWebhookDto, WebhookDto } from './dto/webhook.dto';
import { WebhookRulesService } from './webhook-rules.service';
import { etagOf, IF_MATCH, IF_NONE_MATCH } from './webhook-version';
import { WebhookViewsService } from './webhook-views.service';
import { WebhooksService } from './webhooks.service';

const EXAMPLES = {
  'two events': { value: { url: 'https://example.com/hooks', events: ['operation.complete', 'operation.failed'] } },
};

/** Webhooks by ids of their owner, for programs that declare them: Terraform, a deployment, another service. */
@ApiTags('Webhooks')
@Controller('api/webhooks/external/:externalId')
export class ExternalWebhooksController {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly views: WebhookViewsService,
  ) {}

  @Put()
  @Scopes('webhooks:write')
  @Rules(WebhookRulesService)
  @ApiRoute(
    'Create or replace a webhook by your own id',
    'Idempotent. An existing webhook keeps its kind, secret, format, fields and headers, and stays active or inactive, unless the body says otherwise; other absent fields get their defaults. The secret is returned only on creation.',
  )
  @ApiBody({ type: WebhookDeclarationDto, examples: EXAMPLES })
  @ApiHeader(IF_MATCH)
  @ApiHeader(IF_NONE_MATCH)
  @ApiAnswer(WebhookDto, 'The existing webhook as it is now.', { headers: ['etag'] })
  @ApiAnswer(CreatedWebhookDto, 'The new webhook and its secret.', { status: 201, headers: ['location', 'etag'] })
  @ApiErrors(...BODY_ERRORS, 'precondition_failed')
  @ApiErrors(
    'webhook_limit_reached',
    'kind_mismatch',
    'headers_bound_to_origin',
    'rotation_running',
    'webhook_stopping',
  )
  async saveWebhook(
    @CurrentUser() { userId }: Principal,
    @ExternalIdParam() externalId: string,
    @Body() body: WebhookDeclarationDto,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('if-match') ifMatch?: string,
    @Headers('if-none-match') ifNoneMatch?: string,
  ): Promise<WebhookDto | CreatedWebhookDto> {
    const saved = await this.webhooks.save(userId, externalId, body, { ifMatch, ifNoneMatch });
    void reply.header('etag', etagOf(saved.webhook));
    if (saved.secret === undefined) return WebhookDto.from(await this.views.of(saved.webhook));
    void reply.code(201).header('location', `/api/webhooks/${saved.webhook.id}`);
    return CreatedWebhookDto.with(saved.webhook, saved.secret);
  }

  @Get()
  @Scopes('webhooks:read')
  @ApiRoute('Read a webhook by your own id')
  @ApiAnswer(WebhookDto, 'The webhook.', { headers: ['etag'] })
  @ApiErrors('validation_failed', 'not_found')
  async getWebhookByExternalId(
    @CurrentUser() user: Principal,
    @ExternalIdParam() externalId: string,
    @Query() query: ReadWebhookDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WebhookDto> {
    const view = await this.views.read(user, { externalId }, query);
    void reply.header('etag', etagOf(view.webhook));
    return WebhookDto.from(view);
  }

  @Delete()
  @Scopes('webhooks:write')
  @ApiRoute('Delete a webhook by your own id', 'Cancels its pending deliveries.')
  @ApiHeader(IF_MATCH)
  @ApiAnswer(DeletedWebhookDto, 'The id of the deleted webhook.')
  @ApiErrors(...BODY_ERRORS, 'not_found', 'precondition_failed')
  async deleteWebhookByExternalId(
    @CurrentUser() { userId }: Principal,
    @ExternalIdParam() externalId: string,
    @Headers('if-match') ifMatch?: string,
  ): Promise<DeletedWebhookDto> {
    return { id: await this.webhooks.remove(userId, { externalId }, { ifMatch }) };
  }
}
