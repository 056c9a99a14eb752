import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { KnownEventType } from 'webhook-notification/catalogue';
import { version } from './plumbing/config/version';
import { ANSWER_HEADERS } from './plumbing/http/api-answer.decorator';
import { isApiRoute } from './plumbing/http/api-route';
import { declaredEvents, outgoingEvents } from './catalogue/outgoing-events';

const DESCRIPTION = `Register callback URLs, publish events, and every subscriber gets a signed HTTP POST.

Press **Authorize** and paste an access token. A path that exists answers any other method with 405 and \`allow\`. Every answer under \`/api\` is an envelope: \`{ "success": true, "data": … }\`
or \`{ "success": false, "error": "…" }\`; lists have \`nextCursor\` beside \`data\`.`;

/** Describes every route, and the requests that receivers get for these events, as OpenAPI 3.1. */
export function buildOpenApi(app: INestApplication, events: readonly KnownEventType[]): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Webhook Notification Service')
    .setDescription(DESCRIPTION)
    .setVersion(version)
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'An access token: wns_ and 43 characters.' })
    .addTag('Webhooks', 'Where events are sent')
    .addTag('Deliveries', 'What was sent, and what came back')
    .addTag('Events', 'What happened')
    .addTag('Accounts', 'Social accounts whose followers make events')
    .addTag('Access', 'Who may do what')
    .addTag('Health', 'For load balancers and orchestrators');
  const document = SwaggerModule.createDocument(app, builder.build());
  closeBodies(document);
  return {
    ...document,
    components: { ...document.components, headers: ANSWER_HEADERS, responses: sharedErrors(document) },
    webhooks: outgoingEvents(events),
  };
}

/** Adds the requests that receivers get for declared types, in this order and up to 1 MiB. Says how many are left out. */
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

/** Takes the error answers of the API out of its routes, which refer to them: one for each status. */
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

/** Says that a request body has no other fields: no decorator of a DTO can. */
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
