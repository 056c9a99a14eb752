export type { EventType, ObjectSchema } from './catalogue/built-in-types';
export type { DataOf } from './catalogue/data-of';
export { defineEvent, type EventDefinition, type StandardJsonSchema } from './catalogue/define-event';
export { eventBody } from './events/event-body';
// Exported with a star, so that `declare module 'webhook-notification'` can add to EventPayloads.
export * from './events/payloads';
export { type Diagnosis, explainSignature, type ExplainOptions } from './signature/explain-signature';
export type { ReceivedHeaders } from './signature/headers';
export { serviceSignature, standardSignature } from './signature/sign';
export { type DeliveryToSign, signDelivery, type SignedDelivery } from './signature/sign-delivery';
export { signatureHeaders, type SigningSecrets } from './signature/signature-headers';
export {
  type ReceivedEvent,
  type SignatureFailure,
  type SignatureScheme,
  type VerifyOptions,
  verifySignature,
  WebhookSignatureError,
} from './signature/verify-signature';
