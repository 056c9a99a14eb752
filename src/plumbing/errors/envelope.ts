/** The answer to every failed request under `/api`. */
export interface ErrorEnvelope {
  success: false;
  /** One readable sentence. */
  error: string;
}

/** Wraps a sentence in the envelope. */
export const errorEnvelope = (error: string): ErrorEnvelope => ({ success: false, error });
