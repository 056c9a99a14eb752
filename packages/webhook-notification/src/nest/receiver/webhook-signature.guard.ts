import { type CanActivate, type ExecutionContext, Logger, UnauthorizedException } from '@nestjs/common';
import {
  checkOptions,
  type ReceivedEvent,
  type ReceivedPayload,
  verifySignature,
  type VerifyOptions,
  WebhookSignatureError,
} from '../../signature/verify-signature';

type Secret = string | readonly string[];

/** The secret, and the strictness of the verification. */
export interface WebhookSignatureGuardOptions extends VerifyOptions {
  /** The webhook's secret, several during a rotation, or a function that returns them. */
  secret: Secret | (() => Secret | Promise<Secret>);
}

interface RawRequest {
  rawBody?: Buffer;
  headers: Record<string, string | string[] | undefined>;
}

const events = new WeakMap<object, ReceivedEvent | ReceivedPayload>();

/** Returns the event of a request that a guard has accepted. */
export const eventOf = (request: object): ReceivedEvent | ReceivedPayload | undefined => events.get(request);

/**
 * Accepts only genuine deliveries and returns 401 to all others: `@UseGuards(new WebhookSignatureGuard({ secret }))`.
 * The application must keep raw bodies, on Fastify and on Express: `NestFactory.create(AppModule, { rawBody: true })`.
 * By default the guard requires the signed time of Standard Webhooks.
 */
export class WebhookSignatureGuard implements CanActivate {
  private readonly logger = new Logger('WebhookSignatureGuard');
  private hasLogged = false;

  /** @throws TypeError for options that `verifySignature` refuses */
  constructor(private readonly options: WebhookSignatureGuardOptions) {
    checkOptions(options);
  }

  /** @throws UnauthorizedException for a request that is not genuine; its `error` is the reason, as `verifySignature` names it */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<RawRequest>();
    const { rawBody, headers } = request;
    const { secret, ...options } = this.options;
    try {
      if (rawBody === undefined) throw this.withoutBody(headers);
      const secrets = typeof secret === 'function' ? await secret() : secret;
      events.set(request, verifySignature(rawBody, headers, secrets, options));
      return true;
    } catch (error) {
      if (!(error instanceof WebhookSignatureError)) throw error;
      throw new UnauthorizedException(error.message, { cause: error, description: error.reason });
    }
  }

  /** Anyone can send a request without a body, so only one with JSON suggests that the application keeps no raw bodies. */
  private withoutBody(headers: RawRequest['headers']): WebhookSignatureError {
    if (!this.hasLogged && isJson(headers)) {
      this.hasLogged = true;
      this.logger.error(
        'Every delivery is refused, because the application keeps no raw bodies: NestFactory.create(AppModule, { rawBody: true }).',
      );
    }
    return new WebhookSignatureError('body_not_raw', 'The request has no raw body that could be verified.');
  }
}

function isJson(headers: RawRequest['headers']): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasBody && /^application\/([\w.-]+\+)?json\b/i.test(String(headers['content-type']));
}
