export type { EventType, ObjectSchema } from './catalogue/built-in-types';
export type { DataOf } from './catalogue/data-of';
export { defineEvent, type EventDefinition, type StandardJsonSchema } from './catalogue/define-event';
export type { FieldError } from './catalogue/field-error';
export type { CallOptions, ClientOptions, Fetch, FetchAnswer, FetchRequest } from './client/client-options';
export { createClient, type WebhookServiceClient } from './client/create-client';
export type { NewEvent, PublishCallOptions } from './client/event-routes';
export type { Rows } from './client/pages';
export type { ApiSchema, Page, Request } from './client/routes';
export { WebhookServiceError } from './client/service-error';
export { eventBody } from './events/event-body';
// Exported with a star, so that `declare module 'webhook-notification'` can extend EventPayloads.
export * from './events/payloads';
export { type Diagnosis, explainSignature, type ExplainOptions } from './signature/explain-signature';
export type { ReceivedHeaders } from './signature/headers';
export { serviceSignature, standardSecret, standardSignature } from './signature/sign';
export { type DeliveryToSign, signDelivery, type SignedDelivery } from './signature/sign-delivery';
export { signatureHeaders, type SigningSecrets } from './signature/signature-headers';
export {
  type ReceivedEvent,
  type ReceivedFormat,
  type ReceivedPayload,
  type SignatureFailure,
  type SignatureScheme,
  type VerifyOptions,
  verifySignature,
  WebhookSignatureError,
} from './signature/verify-signature';
