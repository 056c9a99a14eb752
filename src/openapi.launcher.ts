import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { version } from './plumbing/config/version';
import type { EventType } from './catalogue/catalogue';
import { EventCatalogue } from './catalogue/event-catalogue';
import { outgoingEvents } from './catalogue/outgoing-events';

const DESCRIPTION = `Register callback URLs, publish events, and every subscriber gets a signed HTTP POST.

Press **Authorize** and paste an access token. Every answer under \`/api\` is an envelope: \`{ "success": true, "data": … }\`
or \`{ "success": false, "error": "…" }\`; lists have \`nextCursor\` beside \`data\`.`;

/** Describes every route, and the requests that receivers get for these events, as OpenAPI 3.1. */
export function buildOpenApi(app: INestApplication, events: readonly EventType[]): OpenAPIObject {
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
  return {
    ...SwaggerModule.createDocument(app, builder.build()),
    webhooks: outgoingEvents(events),
  };
}

/** Serves Swagger UI at `/docs` and the document at `/docs/openapi.json`. */
export function serveDocs(app: INestApplication): void {
  SwaggerModule.setup('docs', app, () => buildOpenApi(app, app.get(EventCatalogue).all), {
    jsonDocumentUrl: 'docs/openapi.json',
    raw: ['json'],
    customSiteTitle: 'Webhook Notification Service',
    swaggerOptions: { persistAuthorization: true, displayRequestDuration: true, tryItOutEnabled: true },
  });
}
