import { Body, Controller, Delete, Get, Headers, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../auth/access-token';
import { CurrentUser, Scopes } from '../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute, BODY_ERRORS } from '../infrastructure/http/api-answer.decorator';
import { IdParam, Rules } from '../infrastructure/validation/api-request.decorator';
import type { Page } from '../infrastructure/pagination/page';
import { CreateWebhookDto } from './dto/webhook-fields.dto';
import { ListWebhooksDto, ReadWebhookDto } from './dto/list-webhooks.dto';
import { RotatedSecretDto, SecretRotationDto, UpdateWebhookDto } from './dto/update-webhook.dto';
import { CreatedWebhookDto, DeletedWebhookDto, WebhookDto } from './dto/webhook.dto';
import { SecretRotationService } from './secret-rotation.service';
import { WebhookRulesService } from './webhook-rules.service';
import { etagOf, IF_MATCH } from './webhook-version';
import { WebhookViewsService } from './webhook-views.service';
import { WebhooksService } from './webhooks.service';

/** Without a secret: a request as Swagger UI fills it in must not set one that everybody knows. */
const EXAMPLES = {
  create: {
    'some events': { value: { url: 'https://example.com/hooks', events: ['operation.complete', 'operation.failed'] } },
    'to lease': { value: { kind: 'pull', events: ['operation.complete'] } },
    'all events': { value: { url: 'https://example.com/hooks', events: ['*'], description: 'Staging' } },
  },
  update: {
    'other events': { value: { events: ['follower.*', 'job.completed'] } },
    'switch off': { value: { active: false } },
  },
  rotate: { 'a generated secret': { value: { overlapSeconds: 86400 } } },
};

@ApiTags('Webhooks')
@Controller('api/webhooks')
export class WebhooksController {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly views: WebhookViewsService,
    private readonly secrets: SecretRotationService,
  ) {}

  @Post()
  @Scopes('webhooks:write')
  @Rules(WebhookRulesService)
  @ApiRoute('Create a webhook', 'The secret is returned only on creation.')
  @ApiBody({ type: CreateWebhookDto, examples: EXAMPLES.create })
  @ApiAnswer(CreatedWebhookDto, 'The new webhook and its secret.', { status: 201, headers: ['location', 'etag'] })
  @ApiErrors(...BODY_ERRORS, 'webhook_limit_reached', 'external_id_taken')
  async createWebhook(
    @CurrentUser() { userId }: Principal,
    @Body() body: CreateWebhookDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CreatedWebhookDto> {
    const { webhook, secret } = await this.webhooks.create(userId, body);
    void reply.headers({ location: `/api/webhooks/${webhook.id}`, etag: etagOf(webhook) });
    return CreatedWebhookDto.with(webhook, secret);
  }

  @Get()
  @Scopes('webhooks:read')
  @ApiRoute('List your webhooks', 'Newest first.')
  @ApiAnswer(WebhookDto, 'One page of webhooks.', { page: true })
  @ApiErrors('validation_failed', 'cursor_invalid')
  async listWebhooks(@CurrentUser() user: Principal, @Query() query: ListWebhooksDto): Promise<Page<WebhookDto>> {
    return (await this.views.list(user, query)).map(WebhookDto.from);
  }

  @Get(':id')
  @Scopes('webhooks:read')
  @ApiRoute('Read a webhook')
  @ApiAnswer(WebhookDto, 'The webhook.', { headers: ['etag'] })
  @ApiErrors('validation_failed', 'not_found')
  async getWebhook(
    @CurrentUser() user: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @Query() query: ReadWebhookDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<WebhookDto> {
    const view = await this.views.read(user, { id }, query);
    void reply.header('etag', etagOf(view.webhook));
    return WebhookDto.from(view);
  }

  @Patch(':id')
  @Scopes('webhooks:write')
  @Rules(WebhookRulesService)
  @ApiRoute('Change a webhook', 'Absent fields keep their values.')
  @ApiBody({ type: UpdateWebhookDto, examples: EXAMPLES.update })
  @ApiHeader(IF_MATCH)
  @ApiAnswer(WebhookDto, 'The updated webhook.', { headers: ['etag'] })
  @ApiErrors(...BODY_ERRORS)
  @ApiErrors('not_found', 'external_id_taken', 'headers_bound_to_origin', 'rotation_running', 'webhook_stopping')
  @ApiErrors('precondition_failed')
  async updateWebhook(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @Body() body: UpdateWebhookDto,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('if-match') ifMatch?: string,
  ): Promise<WebhookDto> {
    const view = await this.views.of(await this.webhooks.update(userId, id, body, { ifMatch }));
    void reply.header('etag', etagOf(view.webhook));
    return WebhookDto.from(view);
  }

  @Delete(':id')
  @Scopes('webhooks:write')
  @ApiRoute('Delete a webhook', 'Cancels its pending deliveries.')
  @ApiHeader(IF_MATCH)
  @ApiAnswer(DeletedWebhookDto, 'The id of the deleted webhook.')
  @ApiErrors(...BODY_ERRORS, 'not_found', 'precondition_failed')
  async deleteWebhook(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @Headers('if-match') ifMatch?: string,
  ): Promise<DeletedWebhookDto> {
    return { id: await this.webhooks.remove(userId, { id }, { ifMatch }) };
  }

  @Post(':id/rotate-secret')
  @HttpCode(200)
  @Scopes('webhooks:write')
  @ApiRoute(
    'Rotate the secret of a webhook',
    'Only this response contains the new secret. Until previousSecretExpiresAt, deliveries are signed with both secrets: the old signature is in x-service-signature-previous and second in webhook-signature. To set the secret in force again changes nothing; another one returns 409 until the overlap ends, unless `force` is true, which ends the oldest secret at once.',
  )
  @ApiBody({ type: SecretRotationDto, required: false, examples: EXAMPLES.rotate })
  @ApiAnswer(RotatedSecretDto, 'The new secret and the expiry of the old one.')
  @ApiErrors(...BODY_ERRORS, 'not_found', 'rotation_running')
  async rotateSecret(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @Body() { secret, ...rotation }: SecretRotationDto,
  ): Promise<RotatedSecretDto> {
    return RotatedSecretDto.from(await this.secrets.rotate(userId, id, rotation, secret));
  }
}
