import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getMetadataStorage } from 'class-validator';
import { DUE_WEBHOOK_COLUMNS } from '../deliveries/rows/due-webhook';
import { UpdateWebhookDto } from './dto/update-webhook.dto';
import { CreateWebhookDto, WebhookDeclarationDto } from './dto/webhook-fields.dto';
import { kindErrors, SETTABLE_NAMES, withDefaults } from './webhook-fields';

const PUSH = { url: 'https://example.com', headers: { a: 'b' }, timeoutMs: 500, maxPerSecond: 1 };
const fieldsOf = (errors: readonly { field: string }[]) => errors.map(({ field }) => field);

describe('A kind of webhooks', () => {
  it('has fields of its own', () => {
    expect(fieldsOf(kindErrors('pull', PUSH))).toEqual(Object.keys(PUSH));
    expect(kindErrors('push', PUSH)).toEqual([]);
    expect(kindErrors('pull', { idleSeconds: 60 })).toEqual([]);
    expect(kindErrors('push', { idleSeconds: 60 })).toEqual([
      { field: 'idleSeconds', code: 'invalid', message: 'idleSeconds is only for webhooks of kind pull' },
    ]);
  });

  it('has formats of its own', () => {
    expect(kindErrors('pull', { format: 'payload' })).toEqual([]);
    expect(fieldsOf(kindErrors('pull', { format: 'slack' }))).toEqual(['format']);
    expect(kindErrors('push', { format: 'slack', fields: null })).toEqual([]);
  });

  it('has fields of the data with formats of data only, whichever of the two a request sets', () => {
    expect(fieldsOf(kindErrors('push', { format: 'slack', fields: [] }))).toEqual(['fields']);
    expect(fieldsOf(kindErrors('push', { fields: [] }, { format: 'teams', fields: null }))).toEqual(['fields']);
    expect(fieldsOf(kindErrors('push', { format: 'discord' }, { format: 'native', fields: ['a'] }))).toEqual([
      'fields',
    ]);
    expect(kindErrors('push', { format: 'discord', fields: null }, { format: 'native', fields: ['a'] })).toEqual([]);
    expect(kindErrors('push', { fields: ['a'], format: 'standard' }, { format: 'slack' })).toEqual([]);
  });

  it('accepts null for a field of the other kind', () => {
    expect(kindErrors('pull', { headers: null, timeoutMs: null, maxPerSecond: undefined })).toEqual([]);
    expect(kindErrors('push', { idleSeconds: null })).toEqual([]);
  });
});

describe('A field of a webhook', () => {
  const namesOf = (dto: new () => object) =>
    [
      ...new Set(
        getMetadataStorage()
          .getTargetValidationMetadatas(dto, '', false, false)
          .map((rule) => rule.propertyName),
      ),
    ].sort();

  it('can be set in each of the ways unless the way says otherwise', () => {
    const names = [...SETTABLE_NAMES].sort();
    expect(namesOf(UpdateWebhookDto)).toEqual([...names, 'force'].sort());
    expect(namesOf(CreateWebhookDto)).toEqual([...names, 'kind'].sort());
    expect(namesOf(WebhookDeclarationDto)).toEqual(
      [...names.filter((name) => name !== 'externalId'), 'force', 'kind'].sort(),
    );
  });

  it('has its default when it is absent, and null is a value of its own only without one', () => {
    const defaults = {
      ...{ description: null, metadata: {}, externalId: null, filter: null, format: 'native', timeoutMs: null },
      ...{ retryDelaysMs: null, maxPerSecond: null, idleSeconds: null, fields: null },
    };
    const kept = { url: undefined, events: undefined, secret: undefined, headers: undefined, active: undefined };
    expect(withDefaults({})).toEqual({ ...kept, ...defaults });
    expect(withDefaults({ active: false, retryDelaysMs: [], description: '' })).toEqual({
      ...{ ...kept, ...defaults, active: false, retryDelaysMs: [], description: '' },
    });
  });

  it('stays when a declaration of an existing webhook leaves it out, if it says so', () => {
    expect(withDefaults({}, true)).toMatchObject({ format: undefined, fields: undefined, description: null });
    expect(withDefaults({ format: null, fields: null }, true)).toMatchObject({ format: 'native', fields: null });
  });

  it('is read by attempts from the column of its name', () => {
    expect(DUE_WEBHOOK_COLUMNS).toBe(
      'w.url as "url", w.format as "format", nullif(w.headers, \'{}\') as "headers", w.timeout_ms as "timeoutMs", ' +
        'w.retry_delays_ms as "retryDelaysMs", w.max_per_second as "maxPerSecond", ' +
        'w.fields as "fields", w.active as "active", ' +
        'w.secret as "sealedSecret", ' +
        'case when w.previous_secret_expires_at > now() then w.previous_secret end as "sealedPreviousSecret"',
    );
  });

  it('is named where it is declared and where it does something, and nowhere else in src', () => {
    const src = join(__dirname, '..');
    const paths = readdirSync(src, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'));
    const places = paths
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
      .map((path) => [path, readFileSync(join(src, path), 'utf8').match(/idle_?seconds/gi)?.length ?? 0] as const);
    expect(Object.fromEntries(places.filter(([, count]) => count > 0))).toEqual({
      'infrastructure/database/migrations/pull-webhooks.migration.ts': 3,
      // The column, and its name in TypeScript.
      'webhooks/webhook.entity.ts': 2,
      'webhooks/dto/webhook-fields.dto.ts': 1,
      'webhooks/webhook-fields.ts': 1,
      'webhooks/dto/webhook.dto.ts': 1,
      // What it does.
      'deliveries/pulling/idle-webhooks.service.ts': 4,
    });
  });
});
