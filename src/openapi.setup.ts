import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { KnownEventType } from 'webhook-notification/catalogue';
import { version } from './infrastructure/config/version';
import { ANSWER_HEADERS } from './infrastructure/http/api-answer.decorator';
import { isApiRoute } from './infrastructure/http/api-route';
import { declaredEvents, outgoingEvents } from './catalogue/outgoing-events';

const DESCRIPTION = `Register webhooks and publish events: every subscribed webhook receives a signed HTTP POST.

Press **Authorize** and paste an access token. An existing path returns 405 with \`allow\` for any other method. Every response under \`/api\` is an envelope: \`{ "success": true, "data": … }\`
or \`{ "success": false, "error": "…" }\`; lists have \`nextCursor\` next to \`data\`.`;

/** Describes every route, and the requests that receivers get for these events, as OpenAPI 3.1. */
export function buildOpenApi(app: INestApplication, events: readonly KnownEventType[]): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Webhook Notification Service')
    .setDescription(DESCRIPTION)
    .setVersion(version)
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'An access token: wns_ and 43 characters.' })
    .addTag('Webhooks', 'URLs that receive events')
    .addTag('Deliveries', 'Attempts and their responses')
    .addTag('Events', 'Published events and event types')
    .addTag('Accounts', 'Social accounts whose follower changes are published as events')
    .addTag('Access', 'Access tokens, console sessions and settings')
    .addTag('Health', 'For load balancers and orchestrators');
  const document = SwaggerModule.createDocument(app, builder.build());
  closeBodies(document);
  return {
    ...document,
    components: { ...document.components, headers: ANSWER_HEADERS, responses: sharedErrors(document) },
    webhooks: outgoingEvents(events),
  };
}

/**
 * Adds the requests that receivers get for declared types, in this order and up to 1 MiB. States how many are left out.
 */
export function withDeclared(document: OpenAPIObject, types: readonly KnownEventType[]): OpenAPIObject {
  const { webhooks, components, leftOut } = declaredEvents(types);
  const { info } = document;
  const more = `\n\n${leftOut} event types do not fit into this document: \`GET /api/event-types\` lists them.`;
  return {
    ...document,
    info: { ...info, description: `${info.description ?? ''}${leftOut > 0 ? more : ''}` },
    components: {
      ...document.components,
      schemas: { ...document.components?.schemas, ...(components.schemas as Components['schemas']) },
      parameters: components.parameters as Components['parameters'],
    },
    webhooks: { ...document.webhooks, ...(webhooks as OpenAPIObject['webhooks']) },
  };
}

type Components = NonNullable<OpenAPIObject['components']>;

/** Moves the error responses of the API's routes to shared components, one per status. */
function sharedErrors({ paths }: OpenAPIObject): Components['responses'] {
  const shared: Components['responses'] = {};
  for (const [path, methods] of Object.entries(paths)) {
    if (!isApiRoute(path)) continue;
    for (const operation of [methods.get, methods.post, methods.put, methods.patch, methods.delete]) {
      const responses = operation?.responses ?? {};
      for (const [status, answer] of Object.entries(responses)) {
        if (!answer || Number(status) < 400) continue;
        shared[status] ??= answer;
        responses[status] = { $ref: `#/components/responses/${status}` };
      }
    }
  }
  return shared;
}

/** Declares that request bodies have no other fields, which no decorator of a DTO can do. */
function closeBodies({ paths, components }: OpenAPIObject): void {
  const isClosed = new Set<string>();
  const close = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part ?? {}).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const schema = components?.schemas?.[name];
      if (isClosed.has(name) || !schema) continue;
      isClosed.add(name);
      Object.assign(schema, { additionalProperties: false });
      close(schema);
    }
  };
  for (const { post, put, patch } of Object.values(paths)) {
    for (const operation of [post, put, patch]) close(operation?.requestBody);
  }
}
