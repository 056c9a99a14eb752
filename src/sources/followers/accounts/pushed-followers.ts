import { ApiError } from '../../../infrastructure/errors/api-error';
import { messageFor } from '../../../infrastructure/errors/messages';
import { type Follower, isName } from '../follower';

/** Maximum number of followers of a push account. */
export const MAX_PUSHED_FOLLOWERS = 100_000;

const FIELDS = ['id', 'username', 'displayName'];
const MAX_NAMED_PROBLEMS = 10;
/** Number of followers that are validated before yielding to other requests. */
const AT_ONCE = 10_000;

/**
 * Parses the body of `PUT /api/accounts/:id/followers`. It is not a DTO because class-validator takes seconds for
 * 100,000 objects, and would block the process during that time.
 * @param nextTurn yields to other requests, after every 10,000 followers
 * @throws ApiError 400 that lists up to ten errors
 */
export async function parsePushedFollowers(body: unknown, nextTurn: () => Promise<unknown>): Promise<Follower[]> {
  const { followers, ...others } = isObject(body) ? body : {};
  const unknown = Object.keys(others).map(messageFor.unknownField);
  if (!Array.isArray(followers)) throw refusal([...unknown, 'followers must be a list']);
  if (followers.length > MAX_PUSHED_FOLLOWERS) {
    throw refusal([...unknown, `followers must have at most ${MAX_PUSHED_FOLLOWERS} entries`]);
  }
  const problems = [...unknown];
  const ids = new Set<unknown>();
  for (const [index, follower] of (followers as unknown[]).entries()) {
    if (problems.length >= MAX_NAMED_PROBLEMS) break;
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
    problems.push(...problemsOf(follower).map((problem) => `followers.${index}.${problem}`));
    const id = isObject(follower) ? follower.id : undefined;
    if (ids.has(id)) problems.push(`followers.${index}.id is repeated`);
    if (isName(id)) ids.add(id);
  }
  if (problems.length > 0) throw refusal(problems);
  return followers as Follower[];
}

function problemsOf(follower: unknown): string[] {
  if (!isObject(follower)) return ['id must be a string'];
  const { id, username, displayName } = follower;
  return [
    ...Object.keys(follower)
      .filter((field) => !FIELDS.includes(field))
      .map(messageFor.unknownField),
    ...(isName(id) ? [] : [`id ${MUST_BE_TEXT}`]),
    ...(isName(username) ? [] : [`username ${MUST_BE_TEXT}`]),
    ...(displayName === undefined || displayName === '' || isName(displayName) ? [] : [`displayName ${MUST_BE_TEXT}`]),
  ];
}

const MUST_BE_TEXT = 'must be 1 to 512 well-formed characters without NUL';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const refusal = (problems: readonly string[]) => new ApiError(400, problems.slice(0, MAX_NAMED_PROBLEMS).join('; '));
