import { ApiError } from '../../../plumbing/errors/api-error';
import { messageFor } from '../../../plumbing/errors/messages';
import { type Follower, isName } from '../follower';

/** The most followers that a push account may have. */
export const MAX_PUSHED_FOLLOWERS = 100_000;

const FIELDS = ['id', 'username', 'displayName'];
const MAX_NAMED_FAULTS = 10;
/** So many are judged before others get a turn. */
const AT_ONCE = 10_000;

/**
 * Reads the body of `PUT /api/accounts/:id/followers`. It is not a DTO because class-validator takes seconds for
 * 100,000 objects, and the process would do nothing else during that time.
 * @param nextTurn lets others have a turn, after each 10,000
 * @throws ApiError 400 that names up to ten faults
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
    if (problems.length >= MAX_NAMED_FAULTS) break;
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

const refusal = (problems: readonly string[]) => new ApiError(400, problems.slice(0, MAX_NAMED_FAULTS).join('; '));
