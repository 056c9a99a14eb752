import type { DataSource } from 'typeorm';
import { EventCatalogue } from 'webhook-notification/catalogue';
import { SharedStateService } from '../infrastructure/database/shared-state.service';
import type { StatementsService } from '../infrastructure/database/statements.service';
import { type StoredType, StoredTypesRepository } from './stored-types.repository';
import { StoredTypesService } from './stored-types.service';

/** An in-memory table that records which types were read. */
class Rows extends StoredTypesRepository {
  readonly table = new Map<string, StoredType>();
  readonly read: string[][] = [];
  beforeRead = (): void => undefined;
  private changes = 0;

  put(name: string, application: string | null = null): void {
    const version = String((this.changes += 1));
    const type = { description: `Version ${version}.`, schema: { type: 'object' as const }, example: {} };
    this.table.set(name, { name, ...type, application, version });
  }

  state = () => `${this.table.size} ${this.changes}`;
  override versions = async () => [...this.table.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  override some = async (names: readonly string[]) => {
    this.beforeRead();
    this.read.push([...names]);
    return [...this.table.values()].filter(({ name }) => names.includes(name)).reverse();
  };
}

describe('StoredTypesService', () => {
  let rows: Rows;
  let catalogue: EventCatalogue;
  let service: StoredTypesService;
  const stored = () => catalogue.subscribable.filter(({ source }) => source === 'api' || source === 'module');
  beforeEach(async () => {
    rows = new Rows({} as DataSource);
    const run = async () => [{ states: [rows.state()] }];
    const shared = new SharedStateService({ run } as unknown as StatementsService);
    catalogue = new EventCatalogue({ extraEventTypes: [], eventMaxBytes: 1024 });
    service = new StoredTypesService(catalogue, rows, {} as DataSource, shared);
    for (const name of ['kind.b', 'kind.c', 'kind.a']) rows.put(name);
    await service.refresh();
  });

  it('reads all types once, and later only those that changed', async () => {
    const [a] = stored();
    await service.refresh();
    rows.put('kind.b');
    rows.put('kind.d', 'shop');
    await service.refresh();
    expect(rows.read).toEqual([
      ['kind.a', 'kind.b', 'kind.c'],
      ['kind.b', 'kind.d'],
    ]);
    expect(stored().map(({ name, description, source }) => [name, description, source])).toEqual([
      ['kind.a', 'Version 3.', 'api'],
      ['kind.b', 'Version 4.', 'api'],
      ['kind.c', 'Version 2.', 'api'],
      ['kind.d', 'Version 5.', 'module'],
    ]);
    expect(stored()[0]).toBe(a);
  });

  it('drops deleted types, including one that was deleted during the read', async () => {
    rows.table.delete('kind.a');
    rows.put('kind.b');
    rows.beforeRead = () => rows.table.delete('kind.b');
    await service.refresh();
    expect(stored().map(({ name }) => name)).toEqual(['kind.c']);
  });

  it('lists the declared types in the order of their last change', async () => {
    rows.put('kind.c');
    await service.refresh();
    expect(service.declared.map(({ name }) => name)).toEqual(['kind.b', 'kind.a', 'kind.c']);
  });
});
