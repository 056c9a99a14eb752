import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { EventCatalogue, type KnownEventType } from 'webhook-notification/catalogue';
import { AuthenticationService } from './auth/bearer/authentication.service';
import { RateLimitsService } from './auth/limits/rate-limits.service';
import { oncePerChange } from './catalogue/once-per-change';
import { StoredTypesService } from './catalogue/stored-types.service';
import { buildOpenApi, withDeclared } from './openapi.setup';
import { Config } from './infrastructure/config/config';

/**
 * Serves Swagger UI at `/docs`, and the document at `/docs/openapi.json`. Without a token, the document contains the
 * event types of the service and its settings; with a live token, all declared types too. Each of the two is built on
 * first use, the second again after each change of the types, and every request is served from the same buffer.
 */
export function serveDocs(app: NestFastifyApplication): void {
  const documents = documentsOf(app);
  const [types, authentication, limits] = [
    app.get(StoredTypesService),
    app.get(AuthenticationService),
    app.get(RateLimitsService),
  ];
  const server: FastifyInstance = app.getHttpAdapter().getInstance();
  server.get('/docs/openapi.json', async (request, reply) => {
    reply.headers({ 'content-type': 'application/json; charset=utf-8', vary: 'authorization' });
    if (!request.raw.headersDistinct.authorization) return reply.send(documents.own());
    const user = await authentication.authenticateRequest(request);
    Object.assign(request, { user });
    reply.headers({ 'cache-control': 'no-store', ...limits.count('manage', user.userId) });
    return reply.send(documents.whole(types.declared));
  });
  // Nest would embed the document in the script; the plugin loads it instead.
  SwaggerModule.setup('docs', app, {} as OpenAPIObject, {
    raw: false,
    customSiteTitle: 'Webhook Notification Service',
    swaggerOptions: {
      ...{
        persistAuthorization: false,
        displayRequestDuration: true,
        tryItOutEnabled: true,
        defaultModelsExpandDepth: 0,
      },
      ...{ url: '', plugins: [documentOfToken] },
    },
  });
}

interface Documents {
  own(): Buffer;
  whole(declared: readonly KnownEventType[]): Buffer;
}

function documentsOf(app: NestFastifyApplication): Documents {
  const config = app.get(Config);
  const bytesOf = (document: OpenAPIObject) => Buffer.from(JSON.stringify(document));
  const make = oncePerChange(() => {
    const document = buildOpenApi(app, new EventCatalogue(config).all, config.headerPrefix);
    return { document, bytes: bytesOf(document) };
  });
  return {
    own: () => make([]).bytes,
    whole: oncePerChange((declared) => bytesOf(withDeclared(make([]).document, declared, config.headerPrefix))),
  };
}

interface SwaggerUi {
  specActions: { updateLoadingStatus(status: string): void; updateSpec(document: string): void };
  errActions: {
    clear(of: { source: string }): void;
    newAuthErr(error: { authId: string; level: string; source: string; message: string }): void;
  };
}
interface Authorized {
  bearer?: { value: string };
}
declare const window: {
  document: { querySelector(selector: string): { src: string } };
  fetch: typeof globalThis.fetch;
};

/**
 * A plugin of Swagger UI. Nest writes its source text into `swagger-ui-init.js`, so it runs in the browser and must not
 * use anything defined outside it. It loads the document, again with the token from "Authorize", and again without a
 * token after "Logout".
 */
function documentOfToken(): object {
  let loads = 0;
  async function load({ specActions, errActions }: SwaggerUi, token?: string): Promise<void> {
    const own = (loads += 1);
    const { src } = window.document.querySelector('script[src$="swagger-ui-init.js"]');
    errActions.clear({ source: 'document' });
    try {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const answer = await window.fetch(new URL('openapi.json', src), { headers });
      const text = await answer.text();
      // A newer load has started in the meantime.
      if (own !== loads) return;
      if (!answer.ok) throw new Error((JSON.parse(text) as { error: string }).error);
      specActions.updateSpec(text);
      specActions.updateLoadingStatus('success');
    } catch (error) {
      if (own !== loads) return;
      if (token === undefined) specActions.updateLoadingStatus('failed');
      const message = `The document could not be loaded: ${(error as Error).message}`;
      errActions.newAuthErr({ authId: 'bearer', level: 'error', source: 'document', message });
    }
  }
  return {
    afterLoad(ui: SwaggerUi) {
      ui.specActions.updateLoadingStatus('loading');
      void load(ui);
    },
    statePlugins: {
      auth: {
        wrapActions: {
          authorize: (act: (payload: Authorized) => unknown, ui: SwaggerUi) => (payload: Authorized) => {
            void load(ui, payload.bearer?.value);
            return act(payload);
          },
          logout: (act: (names: string[]) => unknown, ui: SwaggerUi) => (names: string[]) => {
            void load(ui);
            return act(names);
          },
        },
      },
    },
  };
}
