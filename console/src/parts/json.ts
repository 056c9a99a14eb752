const MAX_LEVELS = 64;
const MAX_CHARACTERS = 256 * 1024;

/** The text with a line for each value; the text itself where it is no JSON, is too deep or too long. A view, no more. */
export function prettyOf(text: string): string {
  if (text.length > MAX_CHARACTERS || depthOf(text) > MAX_LEVELS) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function depthOf(text: string): number {
  let [depth, most, isInText] = [0, 0, false];
  for (let i = 0; i < text.length; i++) {
    const mark = text[i];
    if (isInText && mark === '\\') i++;
    else if (mark === '"') isInText = !isInText;
    else if (!isInText && (mark === '{' || mark === '[')) most = Math.max(most, ++depth);
    else if (!isInText && (mark === '}' || mark === ']')) depth--;
  }
  return most;
}
