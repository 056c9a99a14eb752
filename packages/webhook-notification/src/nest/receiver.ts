import { type CanActivate, type ExecutionContext, UnauthorizedException } from '@nestjs/common';
import { verifySignature, type VerifyOptions, WebhookSignatureError } from '../signature/verify-signature';

type Secret = string | readonly string[];

/** The secret, and how strictly deliveries are verified. */
export interface WebhookSignatureGuardOptions extends VerifyOptions {
  /** The webhook's secret, several while one replaces another, or a function that returns them. */
  secret: Secret | (() => Secret | Promise<Secret>);
}

interface RawRequest {
  rawBody?: Buffer;
  headers: Record<string, string | string[] | undefined>;
}

/**
 * Lets only genuine deliveries pass, with 401 for all others: `@UseGuards(new WebhookSignatureGuard({ secret }))`. The
 * application must keep raw bodies, on Fastify and on Express: `NestFactory.create(AppModule, { rawBody: true })`.
 * By default the guard requires the signed time of Standard Webhooks.
 */
export class WebhookSignatureGuard implements CanActivate {
  constructor(private readonly options: WebhookSignatureGuardOptions) {}

  /**
   * @throws UnauthorizedException for a request that is not genuine
   * @throws Error when the application does not keep raw bodies
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { rawBody, headers } = context.switchToHttp().getRequest<RawRequest>();
    if (rawBody === undefined) {
      throw new Error('WebhookSignatureGuard needs the raw body: NestFactory.create(AppModule, { rawBody: true }).');
    }
    const { secret, ...options } = this.options;
    try {
      const secrets = typeof secret === 'function' ? await secret() : secret;
      verifySignature(rawBody, headers, secrets, { scheme: 'standard', ...options });
      return true;
    } catch (error) {
      if (error instanceof WebhookSignatureError) throw new UnauthorizedException(error.message);
      throw error;
    }
  }
}
