import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { RECEIVER_OPTIONS, type WebhookReceiverOptions } from './receiver-options';
import { WebhookSignatureGuard } from './webhook-signature.guard';

/** The guard with the options of the module. */
@Injectable()
export class ReceiverGuard implements CanActivate {
  private readonly guard: WebhookSignatureGuard;

  constructor(@Inject(RECEIVER_OPTIONS) options: WebhookReceiverOptions) {
    this.guard = new WebhookSignatureGuard(options);
  }

  canActivate(context: ExecutionContext): Promise<boolean> {
    return this.guard.canActivate(context);
  }
}
