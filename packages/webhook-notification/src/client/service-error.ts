/** Why a request failed. `message` is a sentence, usually the service's own; docs/errors.md says what to do. */
export class WebhookServiceError extends Error {
  override readonly name = 'WebhookServiceError';
  /** True when the response came from the service itself; false for a proxy, another server, or no response. */
  readonly fromService: boolean;

  constructor(
    message: string,
    /** The status of the response; null when there was none, and `cause` says why. */
    readonly status: number | null,
    /** `x-request-id` of the response, with which the operator finds the request in the log; null when there was none. */
    readonly requestId: string | null,
    { fromService = false, ...options }: ErrorOptions & { fromService?: boolean } = {},
  ) {
    super(message, options);
    this.fromService = fromService;
  }
}
