import { randomBytes, randomUUID } from 'node:crypto';
import { ALL_SCOPES, formatToken, hashToken, type Principal } from '../../../src/auth/access-token';
import { AuthenticationService } from '../../../src/auth/bearer/authentication.service';
import { AccessTokensService } from '../../../src/auth/tokens/access-tokens.service';
import { ConsoleLinksRepository } from '../../../src/console/sessions/console-links.repository';
import { openTransaction } from '../../support/open-transaction';
import { useApplication } from '../stage/application';

/** A request and a page delete fewer. */
const CHILDREN = 2500;
/** Those that are revoked do not count. */
const MAX_LIVE = 100;

// With the role of the application nothing is deleted in the background unless a test asks for it.

describe('Tokens made with a revoked one', () => {
  const { app, database } = useApplication();
  const tokens = () => app.get(AccessTokensService, { strict: false });
  const authenticate = (token: string) => app.get(AuthenticationService, { strict: false }).authenticate(token);

  const insert = async (userId: string, parentId: string | null, isSession = false) => {
    const [id, token] = [randomUUID(), formatToken(randomBytes(32))];
    await database.query(
      `insert into webhook_service.access_tokens (id, user_id, name, token_hash, scopes, parent_id, is_session)
       values ($1, $2, 'a test', $3, $4, $5, $6)`,
      [id, userId, hashToken(token), ALL_SCOPES, parentId, isSession],
    );
    return { id, token };
  };
  const principalOf = (userId: string, tokenId: string | null): Principal => ({
    ...{ userId, tokenId, scopes: ALL_SCOPES, expiresAt: null },
  });
  /** A token, many made with it, and a line of others below the first of these. */
  async function family(isSession = false) {
    const userId = `user-${randomUUID()}`;
    const parent = await insert(userId, null, isSession);
    const child = await insert(userId, parent.id);
    const [grandchild, other] = [await insert(`${userId}-b`, child.id), await insert(userId, null)];
    const last = await insert(`${userId}-c`, grandchild.id);
    await database.query(
      `insert into webhook_service.access_tokens (id, user_id, name, token_hash, scopes, parent_id)
       select gen_random_uuid(), $1 || '-b', 'many', sha256(convert_to($2::text || n, 'UTF8')), '{}', $2::uuid
       from generate_series(1, ${CHILDREN}) as n`,
      [userId, parent.id],
    );
    return { userId, parent, other, ended: [parent, child, grandchild, last] };
  }
  const rowsOf = async (userId: string) => {
    const count = 'select count(*)::int as count from webhook_service.access_tokens where user_id like $1';
    return (await database.query<{ count: number }>(count, [`${userId}%`]))[0]!.count;
  };
  const deleteAll = async () => {
    let pages = 0;
    while ((await tokens().deleteRevoked()) === 0) pages += 1;
    return pages;
  };

  it('are refused from the answer on, and deleted in pages', async () => {
    const { userId, parent, other, ended } = await family();
    await tokens().revoke(principalOf(userId, other.id), parent.id);
    for (const { token } of ended) expect(await authenticate(token)).toBeNull();
    expect(await authenticate(other.token)).toMatchObject({ tokenId: other.id });
    expect(await rowsOf(userId)).toBeGreaterThan(1000);
    const list = await tokens().list(principalOf('admin', null), { userId: `${userId}-b`, limit: 250 });
    expect(list.items).toEqual([]);
    const wanted = { name: 'a test', scopes: [], userId: `${userId}-b` };
    for (let i = 0; i < MAX_LIVE; i++) await tokens().create(principalOf('admin', null), wanted);
    await expect(tokens().revoke(principalOf(userId, other.id), ended[1]!.id)).rejects.toMatchObject({ status: 404 });
    expect(await deleteAll()).toBeGreaterThan(1);
    expect(await rowsOf(userId)).toBe(1 + MAX_LIVE);
    expect(await authenticate(other.token)).toMatchObject({ tokenId: other.id });
  });

  it('are deleted with few of them before the answer', async () => {
    const userId = `user-${randomUUID()}`;
    const [parent, other] = [await insert(userId, null), await insert(userId, null)];
    await insert(userId, parent.id);
    await tokens().revoke(principalOf(userId, other.id), parent.id);
    expect(await rowsOf(userId)).toBe(1);
  });

  it('end with a console session that ends', async () => {
    const { userId, parent, ended } = await family(true);
    expect(await app.get(ConsoleLinksRepository, { strict: false }).end(parent.id)).toBe(true);
    for (const { token } of ended) expect(await authenticate(token)).toBeNull();
    await deleteAll();
    expect(await rowsOf(userId)).toBe(1);
  });

  it('leave those that another transaction has locked to a later page', async () => {
    const { userId, parent, other, ended } = await family();
    const lock = 'select from webhook_service.access_tokens where id = $1 for update';
    const foreign = await openTransaction(database, [lock, [ended[1]!.id]]);
    await tokens().revoke(principalOf(userId, other.id), parent.id);
    await deleteAll();
    for (const { token } of ended) expect(await authenticate(token)).toBeNull();
    await foreign.end('rollback');
    await deleteAll();
    expect(await rowsOf(userId)).toBe(1);
  });
});
