/** The screens that are loaded when one of them is first shown, as one script. */
export { AccountScreen } from './account';
export { AccountsScreen } from './accounts';
export { EventTypeScreen, EventTypesScreen } from './event-types';
export { NewWebhookScreen } from './new-webhook';
export { PublishScreen } from './publish';
export { ReceiverScreen } from './receiver';
export { RepairScreen } from './repair';
export { TokensScreen } from './tokens';
export { VerifyScreen } from './verify';
