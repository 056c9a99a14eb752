/** 1 to 128 code points, none of category C or Z (control, format, private, unassigned, separator) but U+0020 inside. */
export const SUBJECT = /^(?!.{129})[^\p{C}\p{Z}]+(?: +[^\p{C}\p{Z}]+)*$/u;

export const isSubject = (text: unknown): text is string => typeof text === 'string' && SUBJECT.test(text);

/** Returns a subject as the value of a header: UTF-8, percent-encoded but for `A-Za-z0-9-._~` (RFC 3986, section 2.3). */
export const encodedSubject = (subject: string): string =>
  encodeURIComponent(subject).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
