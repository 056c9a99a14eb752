/** What `webhook-notification-cli` of the same version shares with the library. Not for applications: it may change in any version. */
export { nameProblem } from './catalogue/event-name';
export { inexactPartOf } from './catalogue/exact-json';
export { unanswered } from './client/answer';
export { type Answered, attempt, type Outcome, TooLargeError, type Unanswered } from './client/attempt';
export { repeatWaitMs } from './client/repeat-wait';
export { type Query, queryText, routeUrl, serviceUrl, urlOf } from './client/service-url';
export { DEFAULT_OUTBOX, outboxStatements } from './nest/outbox-statements';
export { rowsOf, type Transaction } from './nest/transaction';
export { isDecoded, secretProblem } from './signature/standard-key';
