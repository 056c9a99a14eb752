/** The followers in a text, as the API takes them; null when the text is JSON of another form. */
export type FollowersIn = readonly unknown[] | null;

/**
 * Reads a list of followers: lines of `id, username, display name`, or JSON, which is a list or the body of the API. A
 * text in a JSON list, or an id without a username, is both. The service validates the followers.
 */
export function followersIn(text: string): FollowersIn {
  return /^\s*[[{]/.test(text) ? ofJson(text) : ofLines(text);
}

function ofLines(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [id = '', username = '', ...names] = line.split(',').map((part) => part.trim());
      const displayName = names.join(', ');
      return { id, username: username || id, ...(displayName && { displayName }) };
    });
}

function ofJson(text: string): FollowersIn {
  try {
    const parsed: unknown = JSON.parse(text);
    const list = Array.isArray(parsed) ? (parsed as unknown[]) : (parsed as { followers?: unknown }).followers;
    if (!Array.isArray(list)) return null;
    return list.map((each: unknown) => (typeof each === 'string' ? { id: each, username: each } : each));
  } catch {
    return null;
  }
}
