import type { KnownEventType } from 'webhook-notification/catalogue';
import { eventTypeList } from './event-type-list';

describe('eventTypeList', () => {
  let serialized: string[];
  const typeOf = (name: string): KnownEventType => ({
    ...{ name, description: 'Ä "type".', source: 'api', application: null, example: { name } },
    schema: {
      type: 'object',
      properties: {
        toJSON: () => {
          serialized.push(name);
          return { kind: { const: name } };
        },
      },
    },
  });
  const shown = (name: string) => ({ name, schema: { type: 'object', properties: { kind: { const: name } } } });
  const newList = () => eventTypeList(({ name, schema }) => ({ name, schema }));
  const [a, b, c] = [typeOf('kind.a'), typeOf('kind.b'), typeOf('kind.c')];
  beforeEach(() => {
    serialized = [];
  });

  it.each([[[]], [['kind.a']], [['kind.a', 'kind.b', 'kind.c']]])('returns the success envelope of %j', (names) => {
    const json = newList()(names.map(typeOf)).toString();
    expect(JSON.parse(json)).toEqual({ success: true, data: names.map(shown) });
  });

  it('builds the list once for any number of reads', () => {
    const list = newList();
    const first = list([a, b]);
    expect(list([a, b])).toBe(first);
    expect(serialized).toEqual(['kind.a', 'kind.b']);
  });

  it('serializes only the changed types again', () => {
    const list = newList();
    list([a, b]);
    list([a, typeOf('kind.b'), c]);
    list([a, c]);
    expect(serialized).toEqual(['kind.a', 'kind.b', 'kind.b', 'kind.c']);
  });
});
