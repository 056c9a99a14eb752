import type { ApiSchema } from 'webhook-notification';
import { actionFor } from './import-action';
import type { WantedWebhook } from './wanted-webhook';

const WANTED: WantedWebhook = {
  ...{ externalId: 'svix:app_1:ep_1', url: 'https://a.example', events: ['a.b'], secret: 'whsec_x', description: null },
  ...{ metadata: {}, headers: {}, hiddenHeaders: [], maxPerSecond: null, isDisabled: false, obstacles: [], notes: [] },
};
const EXISTING = {
  ...{ url: 'https://a.example/', events: ['a.b'], description: null, metadata: {}, headers: {}, maxPerSecond: null },
  ...{ active: false, disabledReason: null, filter: { 'data.a': 1 }, format: 'native', timeoutMs: 900 },
  retryDelaysMs: [1000],
} as unknown as ApiSchema<'Webhook'>;

type Format = Parameters<typeof actionFor>[2]['format'];
const action = (wanted: Partial<WantedWebhook>, existing?: object, activate = false, format?: Format) =>
  actionFor({ ...WANTED, ...wanted }, existing && { ...EXISTING, ...existing }, { activate, format });

describe('An import', () => {
  it('creates a webhook inactive, or active when it is to activate', () => {
    expect(action({})).toMatchObject({ kind: 'create', declaration: { active: false, secret: 'whsec_x' } });
    expect(action({}, undefined, true)).toMatchObject({ kind: 'create', declaration: { active: true } });
  });

  it.each<[string, Partial<WantedWebhook>]>([
    ['disabled there', { isDisabled: true }],
    ['with channels', { obstacles: ['channels'] }],
    ['with a hidden header', { hiddenHeaders: ['authorization'] }],
  ])('activates none that is %s', (_, wanted) => {
    expect(action(wanted, undefined, true).declaration).toMatchObject({ active: false });
    expect(action(wanted, {}, true).declaration).not.toHaveProperty('active');
  });

  it('leaves alone what is active here, or was disabled by the service', () => {
    expect(action({ url: 'https://b.example' }, { active: true }, true)).toMatchObject({
      kind: 'keep',
      declaration: null,
    });
    expect(action({}, { disabledReason: 'gone' }, true)).toMatchObject({
      ...{ kind: 'keep', declaration: null, obstacles: [expect.stringContaining('gone')] },
    });
  });

  it('finds nothing to change in what it has imported', () => {
    expect(action({}, {})).toMatchObject({ kind: 'same', changes: [] });
  });

  it('tells which fields change', () => {
    const wanted = {
      ...{ url: 'https://b.example', events: ['a.c'], description: 'B', metadata: { a: 'b' }, headers: { a: 'b' } },
      maxPerSecond: 1,
    };
    const changes = ['url', 'events', 'description', 'metadata', 'maxPerSecond', 'headers'];
    expect(action(wanted, {})).toMatchObject({ kind: 'update', changes });
  });

  it('keeps what only this service has', () => {
    const { filter, format, timeoutMs, retryDelaysMs } = EXISTING;
    expect(action({}, {}).declaration).toMatchObject({ filter, format, timeoutMs, retryDelaysMs });
  });

  it('sends new webhooks the data alone, unless another format is wanted, which existing ones get too', () => {
    expect(action({}).declaration).toMatchObject({ format: 'payload' });
    expect(action({}, undefined, false, 'native').declaration).toMatchObject({ format: 'native' });
    expect(action({}, {}, false, 'standard')).toMatchObject({
      ...{ kind: 'update', changes: ['format'], declaration: { format: 'standard' } },
    });
  });

  it('activates what it has imported, once a person has set the hidden headers, and keeps these', () => {
    expect(action({}, {}, true)).toMatchObject({ kind: 'activate', declaration: { active: true, headers: {} } });
    const done = action({ hiddenHeaders: ['Authorization'] }, { headers: { authorization: '•••' } }, true);
    expect(done).toMatchObject({ kind: 'activate', declaration: { active: true }, obstacles: [] });
    expect(done.declaration).not.toHaveProperty('headers');
  });
});
