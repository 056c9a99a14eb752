/**
 * SQL: whether a token, or one that it was made with, directly or indirectly, is revoked. A token that is revoked is marked in its
 * row alone; those made with it are refused from then on, and deleted in the background. Follows the parents only until that is
 * done.
 * @param token the alias of a row of access_tokens
 */
export const isRevoked = (token: string): string => `
  case when (select revoked_at from webhook_service.access_tokens where revoked_at is not null order by revoked_at limit 1) is null
  then false else exists (
    with recursive line as (
      select ${token}.parent_id, ${token}.revoked_at
      union all
      select p.parent_id, p.revoked_at from line join webhook_service.access_tokens p on p.id = line.parent_id
    )
    select from line where revoked_at is not null
  ) end`;

/** SQL: whether a token is neither expired nor revoked. @param token the alias of a row of access_tokens */
export const isLive = (token: string): string =>
  `((${token}.expires_at is null or ${token}.expires_at > now()) and not ${isRevoked(token)})`;
