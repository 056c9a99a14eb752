/** The event types and the rules for their data, shared by the service and by publishers. */
export {
  type AddedEventType,
  EVENT_TYPES,
  type EventType,
  type ObjectSchema,
  TEST_EVENT_TYPE,
} from './catalogue/built-in-types';
export {
  type CatalogueOptions,
  EVENT_SOURCES,
  EventCatalogue,
  type EventSource,
  type KnownEventType,
} from './catalogue/event-catalogue';
export {
  APPLICATION,
  BAD_APPLICATION,
  DESCRIPTION,
  descriptionProblem,
  exampleProblem,
  isApplication,
} from './catalogue/declaration-rules';
export { inexactPartOf } from './catalogue/exact-json';
export { type DataVerdict, MAX_DEPTH, serialiseData } from './catalogue/event-data';
export {
  BUILT_IN_EVENTS,
  type BuiltInEventName,
  EVENT_NAME,
  isBuiltIn,
  isEventName,
  isReserved,
  nameProblem,
  twinOf,
} from './catalogue/event-name';
export {
  fingerprintOf,
  isSameEvent,
  validatePublication,
  type Publication,
  PUBLICATION_MESSAGES,
  requireUserId,
  publicationMessageFor,
  type PublicationVerdict,
} from './catalogue/publication';
export { type FieldError, invalidField, messageOf } from './catalogue/field-error';
export { schemaProblem } from './catalogue/schema-rules';
export { storableSchema } from './catalogue/storable-schema';
export { isLoose, secretProblem } from './signature/standard-key';
export { IDEMPOTENCY_KEY, isIdempotencyKey } from './events/idempotency-key';
export { encodedSubject, isSubject, SUBJECT } from './events/subject';
export { isUserId, USER_ID } from './events/user-id';
