import { dataOf, invalidFieldsOf, type Reply } from '../../support/api';
import { useService } from '../../support/service';
import { deleteWebhooks } from '../../e2e/stage/steps';
import { DAY_MS } from '../../../src/infrastructure/config/durations';

describe('Deadline and retry delays of a webhook', () => {
  const service = useService({ DELIVERY_TIMEOUT_MS: '5000', MAX_RETRIES: '2', RETENTION_DAYS: '1' });
  const wanted = { url: 'https://example.com/hook', events: ['*'] };

  afterEach(() => deleteWebhooks(service.api));

  const create = (fields: object) => dataOf(service.api.createWebhook({ ...wanted, ...fields }), 201);
  const save = (fields: object) => service.api.saveWebhook('mine', { ...wanted, ...fields });

  const REQUESTS: [string, (fields: object) => Promise<Reply<unknown>>][] = [
    ['POST', (fields) => service.api.createWebhook({ ...wanted, ...fields })],
    ['PATCH', async (fields) => service.api.updateWebhook((await create({})).id, fields)],
    ['PUT', save],
  ];

  describe.each(REQUESTS)('in a %s', (_, request) => {
    it.each([
      [{ timeoutMs: 500 }],
      [{ timeoutMs: 5000 }],
      [{ timeoutMs: null }],
      [{ retryDelaysMs: null }],
      [{ retryDelaysMs: [] }],
      [{ retryDelaysMs: [1000] }],
      [{ retryDelaysMs: [DAY_MS] }],
      [{ retryDelaysMs: [1000, DAY_MS - 1000] }],
    ])('%j are stored', async (fields) => {
      const reply = await request(fields);
      expect(reply).toMatchObject({ success: true, data: fields });
    });

    it.each<[object, string[], string]>([
      [{ timeoutMs: 0 }, ['timeoutMs'], '500'],
      [{ timeoutMs: 499 }, ['timeoutMs'], '500'],
      [{ timeoutMs: 5001 }, ['timeoutMs'], 'at most 5000, which DELIVERY_TIMEOUT_MS sets'],
      [{ timeoutMs: 60_001 }, ['timeoutMs'], '60000'],
      [{ timeoutMs: 1000.5 }, ['timeoutMs'], 'whole number'],
      [{ timeoutMs: '500' }, ['timeoutMs'], 'whole number'],
      [{ timeoutMs: [500] }, ['timeoutMs'], 'whole number'],
      [{ retryDelaysMs: 1000 }, ['retryDelaysMs'], 'list'],
      [{ retryDelaysMs: {} }, ['retryDelaysMs'], 'list'],
      [{ retryDelaysMs: [1000, 999] }, ['retryDelaysMs[1]'], 'from 1000 to 86400000'],
      [{ retryDelaysMs: [DAY_MS + 1] }, ['retryDelaysMs[0]'], 'from 1000 to 86400000'],
      [{ retryDelaysMs: [1000.5, '1000'] }, ['retryDelaysMs[0]', 'retryDelaysMs[1]'], 'whole number'],
      [{ retryDelaysMs: [null] }, ['retryDelaysMs[0]'], 'whole number'],
      [{ retryDelaysMs: [1000, 1000, 1000] }, ['retryDelaysMs'], 'at most 2 delays, which MAX_RETRIES sets'],
      [{ retryDelaysMs: [1000, 1000, 1000, 1000] }, ['retryDelaysMs'], 'at most 3 delays'],
      [{ retryDelaysMs: [1000, DAY_MS - 999] }, ['retryDelaysMs'], 'RETENTION_DAYS'],
      [
        { url: 'ftp://example.com/', timeoutMs: 5001, retryDelaysMs: [1] },
        ['retryDelaysMs[0]', 'timeoutMs', 'url'],
        '',
      ],
      [{ timeoutMs: 1, retryDelaysMs: [DAY_MS, DAY_MS] }, ['retryDelaysMs', 'timeoutMs'], 'RETENTION_DAYS'],
    ])('%j are refused: %j', async (fields, invalid, message) => {
      const refused = await request(fields);
      expect((await invalidFieldsOf(Promise.resolve(refused))).sort()).toEqual(
        invalid.map((field) => expect.stringMatching(new RegExp(`^${field.replace(/[[\]]/g, '\\$&')}: `))),
      );
      expect(refused).toMatchObject({ status: 400, error: expect.stringContaining(message) });
    });
  });

  const timing = { timeoutMs: 2000, retryDelaysMs: [1000, 2000] };

  it('stay when PATCH names other fields, and are cleared by null one by one', async () => {
    const { id } = await create(timing);
    const update = (fields: object) => dataOf(service.api.updateWebhook(id, fields));
    expect(await update({ description: 'x' })).toMatchObject(timing);
    expect(await update({ timeoutMs: null })).toMatchObject({ timeoutMs: null, retryDelaysMs: [1000, 2000] });
    expect(await update({ retryDelaysMs: null })).toMatchObject({ timeoutMs: null, retryDelaysMs: null });
    expect(await dataOf(service.api.readWebhook(id))).toMatchObject({ timeoutMs: null, retryDelaysMs: null });
  });

  it('are cleared by a PUT that leaves them out, and unchanged by one that says the same', async () => {
    const created = await save(timing);
    const same = await save(timing);
    expect(same).toMatchObject({ status: 200, data: timing, headers: { etag: created.headers.etag } });
    expect(await dataOf(save({ timeoutMs: 2000 }))).toMatchObject({ timeoutMs: 2000, retryDelaysMs: null });
    expect(await dataOf(save({ retryDelaysMs: [] }))).toMatchObject({ timeoutMs: null, retryDelaysMs: [] });
  });

  it('are part of the version', async () => {
    const { id } = await create({});
    const etags = new Set<unknown>();
    for (const fields of [{ description: 'x' }, timing, { retryDelaysMs: [] }, { timeoutMs: null }])
      etags.add((await service.api.updateWebhook(id, fields)).headers.etag);
    expect(etags.size).toBe(4);
  });
});
