/** The id of a user, from the operator's own system. */
export const USER_ID = /^[A-Za-z0-9._@:|-]{1,128}$/;

/** True for 1 to 128 of the characters A-Z a-z 0-9 . _ @ : | and -. */
export const isUserId = (text: string): boolean => USER_ID.test(text);
