/** Why a request has failed. `message` is a sentence, most often the service's own; docs/errors.md says what to do. */
export class WebhookServiceError extends Error {
  override readonly name = 'WebhookServiceError';
  /** True when the service itself gave the answer; false for the answer of a proxy or another server, and for none. */
  readonly fromService: boolean;

  constructor(
    message: string,
    /** The status of the answer; null: there was none, and `cause` says why. */
    readonly status: number | null,
    /** `x-request-id` of the answer: with it the operator finds the request in the log. Null: the answer had none. */
    readonly requestId: string | null,
    { fromService = false, ...options }: ErrorOptions & { fromService?: boolean } = {},
  ) {
    super(message, options);
    this.fromService = fromService;
  }
}
