import type { components } from './openapi';

type Schemas = components['schemas'];

export type Me = Schemas['MeDto'];
export type About = Schemas['AboutDto'];
export type Scope = Me['scopes'][number];
export type Webhook = Schemas['WebhookDto'];
export type CreatedWebhook = Schemas['CreatedWebhookDto'];
export type WebhookStats = Schemas['WebhookStatsDto'];
export type Stats = Schemas['StatsDto'];
export type StatsStep = Schemas['StatsStepDto'];
export type Delivery = Schemas['DeliveryDto'];
export type DeliveryDetail = Schemas['DeliveryDetailDto'];
export type Status = Delivery['status'];
export type Recovery = Schemas['RecoveryDto'];
export type EventRow = Schemas['EventDto'];
export type EventStory = Schemas['EventDetailDto'];
export type EventType = Schemas['EventTypeDto'];
export type Token = Schemas['TokenDto'];
export type CreatedToken = Schemas['CreatedTokenDto'];
export type TryReceiver = Schemas['TryReceiverDto'];
export type TryReceiverDetail = Schemas['TryReceiverDetailDto'];

/** One page of a list. */
export interface Page<T> {
  rows: T[];
  nextCursor: string | null;
}
