import type { components } from './openapi';

type Schemas = components['schemas'];

export type Me = Schemas['Me'];
export type About = Schemas['About'];
export type Scope = Me['scopes'][number];
export type Webhook = Schemas['Webhook'];
export type CreatedWebhook = Schemas['CreatedWebhook'];
export type WebhookStats = Schemas['WebhookStats'];
export type Stats = Schemas['Stats'];
export type StatsStep = Schemas['StatsStep'];
export type Delivery = Schemas['Delivery'];
export type DeliveryCount = Schemas['DeliveryCount'];
export type DeliveryDetail = Schemas['DeliveryDetail'];
export type Status = Delivery['status'];
export type Recovery = Schemas['Recovery'];
export type RecoveryResult = Schemas['RecoveryResult'];
export type EventRow = Schemas['Event'];
export type EventStory = Schemas['EventDetail'];
export type EventType = Schemas['EventType'];
export type Token = Schemas['Token'];
export type CreatedToken = Schemas['CreatedToken'];
export type Account = Schemas['Account'];
export type FollowersChange = Schemas['FollowersChange'];
export type WebhookUpdate = Schemas['WebhookUpdate'];
export type RotatedSecret = Schemas['RotatedSecret'];
export type FormatPreview = Schemas['FormatPreview'];
export type FilterCheck = Schemas['FilterCheck'];
export type TryReceiver = Schemas['TestReceiver'];
export type TryReceiverDetail = Schemas['TestReceiverDetail'];

/** An invalid field of a request. */
export type Fault = Schemas['FieldError'];

/** One page of a list. */
export interface Page<T> {
  rows: T[];
  nextCursor: string | null;
}
