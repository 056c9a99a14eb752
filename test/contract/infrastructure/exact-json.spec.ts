import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataOf } from '../../support/api';
import { useService } from '../../support/service';
import { UNKNOWN_ID } from '../../e2e/stage/examples';

const { paths } = JSON.parse(readFileSync(join(__dirname, '../../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, { requestBody?: object }>>;
};
/** Every operation that takes a body, at a path whose ids are unknown. */
const OPERATIONS = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { requestBody }]) => requestBody !== undefined)
    .map(
      ([method]) =>
        [method.toUpperCase(), path.replace(/\{\w*[iI]d\}/g, UNKNOWN_ID).replace(/\{\w+\}/g, 'a.b')] as const,
    ),
);

const BEYOND = 'must not be beyond ±9007199254740991; send larger ones as strings';

describe('What JSON.parse would change in silence', () => {
  const service = useService();
  const errorOfBody = async (method: string, path: string, rawBody: string) => {
    const reply = await service.api.call(method, path, { rawBody });
    if (reply.success) return reply;
    return { status: reply.status, error: reply.error, fields: reply.details?.map(({ field }) => field) };
  };

  it('is sent to more than twenty operations', () => expect(OPERATIONS.length).toBeGreaterThan(20));

  it.each(OPERATIONS)('is refused by %s %s, with the place of the first', async (method, path) => {
    const refused = (field: string, problem: string) => ({
      status: 400,
      error: `${field} ${problem}`,
      fields: [field],
    });
    for (const number of ['1046754817289310209', '-9007199254740992', '1e20', '9007199254740993.0', '1e400']) {
      expect(await errorOfBody(method, path, `{"a":{"id":[0,${number}]}}`)).toEqual(refused('a.id[1]', BEYOND));
    }
    expect(await errorOfBody(method, path, '{"a":{"b":1,"\\u0062":2}}')).toEqual(
      refused('a.b', 'must occur only once in its object'),
    );
    expect(await errorOfBody(method, path, '{"a":[{"__proto__":1}]}')).toEqual(
      refused('a[0].__proto__', 'is a name that no object may have here'),
    );
  });

  it('is refused in each event of a batch, in filters, and in schemas and examples of event types', async () => {
    const event = '{"event":"job.started","data":{}}';
    const wrong = '{"event":"job.started","data":{"id":1e20}}';
    const cases = [
      ['POST', '/api/events/batch', `{"events":[${event},${wrong}]}`, 'events[1].data.id'],
      ['POST', '/api/filter-checks', '{"filter":{"data.id":1e20},"event":"job.started","data":{}}', 'filter.data.id'],
      ['POST', '/api/webhooks', '{"filter":{"data.id":{"in":[1,1e20]}}}', 'filter.data.id.in[1]'],
      ['POST', '/api/event-types', '{"schema":{"maximum":9223372036854775807}}', 'schema.maximum'],
      ['PUT', '/api/event-types/a.b', '{"example":{"id":9223372036854775807}}', 'example.id'],
    ] as const;
    for (const [method, path, rawBody, field] of cases) {
      expect(await errorOfBody(method, path, rawBody)).toEqual({
        status: 400,
        error: `${field} ${BEYOND}`,
        fields: [field],
      });
    }
  });

  it('leaves fractions, which are rounded to the nearest double, and the largest exact numbers', async () => {
    const data = '{"numbers":[9007199254740991,-9007199254740991,0.12345678901234567890,5e-324,1e15]}';
    await service.api.call('PUT', '/api/event-types/exact.numbers', {
      body: { description: 'x', schema: { type: 'object' } },
    });
    const { id } = await dataOf<{ id: string }>(
      service.api.call('POST', '/api/events', { rawBody: `{"event":"exact.numbers","data":${data}}` }),
      202,
    );
    expect((await dataOf(service.api.readEvent(id))).data).toEqual(JSON.parse(data));
  });
});
