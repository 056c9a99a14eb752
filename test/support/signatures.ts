import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { ReceivedCall } from './receiver';

/** The lowercase hexadecimal HMAC-SHA256 that `openssl dgst -sha256 -hmac <secret>` computes over the bytes. */
export function opensslSignature(body: Buffer, secret: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const openssl = execFile('openssl', ['dgst', '-sha256', '-hmac', secret], (error, stdout) => {
      if (error) reject(error);
      // "SHA2-256(stdin)= 3f…" or "(stdin)= 3f…", by version
      else resolve(stdout.trim().replace(/^.*= /, ''));
    });
    openssl.stdin?.end(body);
  });
}

/** The same by Node's own crypto. */
export function cryptoSignature(body: Buffer, secret: string): string {
  return createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex');
}

/**
 * What a receiver gets out of the Standard Webhooks library: the parsed body.
 * @throws WebhookVerificationError when the signature, its timestamp or its id do not fit
 */
export function verifyStandardWebhook(call: Pick<ReceivedCall, 'body' | 'headers'>, secret: string): unknown {
  const generated = /^whsec_[A-Za-z0-9+/]{43}=$/.test(secret);
  const webhook = generated ? new Webhook(secret) : new Webhook(Buffer.from(secret, 'utf8'), { format: 'raw' });
  return webhook.verify(call.body, call.headers as Record<string, string>);
}
