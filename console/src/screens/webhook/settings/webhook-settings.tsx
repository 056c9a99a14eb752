import type { Webhook } from '../../../api/types';
import { isPull } from '../../../parts/webhook-kind';
import { DeleteWebhook } from './delete-webhook';
import { FilterSetting } from './filter-setting';
import { FormatSetting } from './format-setting';
import { HeadersSetting } from './headers-setting';
import { IdleSetting } from './idle-setting';
import { LabelsSetting } from './labels-setting';
import { LimitsSetting } from './limits-setting';
import { NameSetting } from './name-setting';
import { RetriesSetting } from './retries-setting';
import { RotateSecret } from './rotate-secret';
import { SubscriptionsSetting } from './subscriptions-setting';
import { UrlSetting } from './url-setting';

const OF_PUSH = [
  ...[NameSetting, UrlSetting, RotateSecret, SubscriptionsSetting, FilterSetting, FormatSetting, HeadersSetting],
  ...[RetriesSetting, LimitsSetting, LabelsSetting, DeleteWebhook],
];
const OF_PULL = [
  ...[NameSetting, RotateSecret, SubscriptionsSetting, FilterSetting, FormatSetting, RetriesSetting, IdleSetting],
  ...[LabelsSetting, DeleteWebhook],
];

/** Everything that an owner sets on a webhook. Each section is saved by itself. */
export const WebhookSettings = ({ webhook }: { webhook: Webhook }) => (
  <div class="setting-list">
    {(isPull(webhook) ? OF_PULL : OF_PUSH).map((Setting, index) => (
      <Setting key={index} webhook={webhook} />
    ))}
  </div>
);
