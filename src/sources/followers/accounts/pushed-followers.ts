import { type FieldError, invalidField } from 'webhook-notification/catalogue';
import { ApiError, MAX_DETAILS, unknownField } from '../../../infrastructure/errors/api-error';
import { type Follower, isName } from '../follower';

export const MAX_PUSHED_FOLLOWERS = 100_000;

const FIELDS = ['id', 'username', 'displayName'];
/** Number of followers that are validated before yielding to other requests. */
const AT_ONCE = 10_000;

/**
 * Parses the body of `PUT /api/accounts/:id/followers`. It is not a DTO because class-validator takes seconds for
 * 100,000 objects, and would block the process during that time.
 * @param nextTurn yields to other requests, after every 10,000 followers
 * @throws ApiError 400 that lists up to 20 errors
 */
export async function parsePushedFollowers(body: unknown, nextTurn: () => Promise<unknown>): Promise<Follower[]> {
  const { followers, ...others } = isObject(body) ? body : {};
  const unknown = Object.keys(others).map(unknownField);
  if (!Array.isArray(followers)) throw ApiError.invalid(...unknown, invalidField('followers', 'must be a list'));
  if (followers.length > MAX_PUSHED_FOLLOWERS)
    throw ApiError.invalid(...unknown, invalidField('followers', `must have at most ${MAX_PUSHED_FOLLOWERS} entries`));
  const errors = [...unknown];
  const ids = new Set<unknown>();
  for (const [index, follower] of (followers as unknown[]).entries()) {
    if (errors.length >= MAX_DETAILS) break;
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
    errors.push(...errorsOf(`followers[${index}].`, follower));
    const id = isObject(follower) ? follower.id : undefined;
    if (ids.has(id)) errors.push(invalidField(`followers[${index}].id`, 'is repeated'));
    if (isName(id)) ids.add(id);
  }
  if (errors.length > 0) throw ApiError.invalid(...errors);
  return followers as Follower[];
}

function errorsOf(path: string, follower: unknown): FieldError[] {
  if (!isObject(follower)) return [invalidField(`${path}id`, 'must be a string')];
  const { id, username, displayName } = follower;
  return [
    ...Object.keys(follower)
      .filter((field) => !FIELDS.includes(field))
      .map((field) => unknownField(`${path}${field}`)),
    ...(isName(id) ? [] : [invalidField(`${path}id`, MUST_BE_TEXT)]),
    ...(isName(username) ? [] : [invalidField(`${path}username`, MUST_BE_TEXT)]),
    ...(displayName === undefined || displayName === '' || isName(displayName)
      ? []
      : [invalidField(`${path}displayName`, MUST_BE_TEXT)]),
  ];
}

const MUST_BE_TEXT = 'must be 1 to 512 well-formed characters without NUL';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
