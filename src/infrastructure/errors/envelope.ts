/** The response to every failed request under `/api`. */
export interface ErrorEnvelope {
  success: false;
  /** One readable sentence. */
  error: string;
}

/** Wraps a message in the envelope. */
export const errorEnvelope = (error: string): ErrorEnvelope => ({ success: false, error });
