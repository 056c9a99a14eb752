import type { Locator, Page } from 'playwright-core';

export const operation = (page: Page, name: string): Locator => page.locator('.opblock', { hasText: name });

export const dialog = (page: Page): Locator => page.locator('.dialog-ux');

export const openDialog = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Authorize' }).first().click();

/** Gives this token to the open dialog. */
export async function enter(page: Page, token: string): Promise<void> {
  await dialog(page).locator('input').fill(token);
  await dialog(page).getByRole('button', { name: 'Apply credentials' }).click();
}

/** Uses this token from now on, in place of the one before. */
export async function authorize(page: Page, token: string): Promise<void> {
  await openDialog(page);
  const remove = dialog(page).getByRole('button', { name: 'Remove authorization' });
  if (await remove.isVisible()) await remove.click();
  const loaded = page.waitForResponse(
    (response) => response.url().endsWith('/docs/openapi.json') && 'authorization' in response.request().headers(),
  );
  await enter(page, token);
  await loaded;
  await dialog(page).locator('.btn-done').click();
}

export interface ShownOperation {
  method: string;
  /** With the names of its parameters in braces. */
  path: string;
}

interface Thing {
  id?: string;
  name?: string;
  webhookId?: string;
  kind?: string;
  provider?: string;
  trigger?: string;
  token?: string;
}

type Params = Readonly<Record<string, string>>;

interface Copied {
  /** Where the path of the operation leads, such as `webhooks`. */
  of: string;
  thing: Thing;
  params: Params;
}

/** Parameters that the caller chooses: `alice` stands in the body of the example too. */
const CHOSEN: Params = { externalId: 'customer-17', userId: 'alice' };

/** What a person copies from one response into the parameters of the next operation. */
export class CopiedIds {
  private readonly created: Copied[] = [];
  private readonly listed: Copied[] = [];

  /** The token of the newest console session. */
  sessionToken = '';

  copyFrom(operation: ShownOperation, params: Params, body: string): void {
    const { data } = JSON.parse(body) as { data?: Thing | Thing[] };
    const { method, path } = operation;
    if (method === 'DELETE') this.forget(collectionOf(path), Object.values(params).at(-1));
    const isList = Array.isArray(data);
    for (const thing of [data ?? []].flat()) {
      if (nameOf(operation) === 'POST /api/console-sessions') this.sessionToken = thing.token ?? '';
      if (keyOf(thing) === undefined) continue;
      if (method === 'POST') this.created.push({ of: collectionOf(path), thing, params });
      if (method === 'GET' && isList) this.listed.push({ of: collectionOf(path), thing, params });
    }
  }

  /**
   * Returns the parameters of this path, for the newest thing that was created, otherwise the first one of a list.
   * @throws Error when no earlier response contains one
   */
  paramsFor(path: string): Params {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const last = names.pop();
    if (last === undefined) return {};
    if (last in CHOSEN) return { [last]: CHOSEN[last] ?? '' };
    const of = collectionOf(path.slice(0, path.lastIndexOf('{')));
    const fits = (copied: Copied): boolean => copied.of === of && isFor(path, copied.thing);
    const found = this.created.findLast(fits) ?? this.listed.find(fits);
    if (!found) throw new Error(`No earlier response has an id for ${path}.`);
    const { thing, params } = found;
    const outer = names.map((name) => [name, thing.webhookId ?? params[name] ?? '']);
    return { ...(Object.fromEntries(outer) as Params), [last]: keyOf(thing) ?? '' };
  }

  private forget(of: string, key: string | undefined): void {
    for (const list of [this.created, this.listed])
      list.splice(0, Infinity, ...list.filter((each) => each.of !== of || keyOf(each.thing) !== key));
  }
}

const nameOf = ({ method, path }: ShownOperation): string => `${method} ${path}`;

const keyOf = ({ id, name }: Thing): string | undefined => id ?? name;

/** Returns the last part of a path that is no parameter; a recovery is created by another one than it is listed by. */
function collectionOf(path: string): string {
  const last = path.split('/').findLast((part) => part !== '' && !part.startsWith('{')) ?? '';
  return last === 'recover' ? 'recoveries' : last;
}

/** Whether the operation is meant for the thing. */
function isFor(path: string, { kind, provider, trigger }: Thing): boolean {
  if (path.includes('/messages/')) return kind === 'pull';
  if (path.endsWith('/followers')) return provider === 'push';
  // Tests cannot be redelivered.
  return kind !== 'pull' && trigger !== 'test';
}
