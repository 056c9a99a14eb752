/** The answer to every request under `/api` that failed. */
export interface ErrorEnvelope {
  success: false;
  /** One readable sentence. */
  error: string;
}

export const errorEnvelope = (error: string): ErrorEnvelope => ({ success: false, error });
