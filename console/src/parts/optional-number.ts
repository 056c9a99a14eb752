/** The text of an optional number: empty for null. */
export const numberText = (value: number | null): string => (value === null ? '' : String(value));

/** Reads an optional number: null for an empty text, NaN for a text that is no number. */
export const optionalNumber = (text: string): number | null => (text.trim() === '' ? null : Number(text));
