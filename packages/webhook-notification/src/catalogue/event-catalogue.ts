import { isDeepStrictEqual } from 'node:util';
import { descriptionProblem, exampleProblem } from './declaration-rules';
import { isReserved, nameProblem, twinOf } from './event-name';
import { EVENT_TYPES, type EventType, type ObjectSchema, TEST_EVENT_TYPE } from './built-in-types';
import { serialiseData } from './event-data';
import { EventValidator } from './event-validator';
import { type FieldError, invalidField, messageOf } from './field-error';
import { isTooLargeToCompile } from './schema-rules';

export interface CatalogueOptions {
  /** Names without their own schema: their data may be any object. */
  extraEventTypes: readonly string[];
  /** Maximum size of an event's data as JSON, in bytes. */
  eventMaxBytes: number;
  /** The application that owns the registered types. Default: none. */
  application?: string;
}

/** The source of an event type: the service, `EXTRA_EVENT_TYPES`, a module or application, or the API. */
export const EVENT_SOURCES = ['builtin', 'setting', 'module', 'api'] as const;

export type EventSource = (typeof EVENT_SOURCES)[number];

/** An event type and its owner. */
export interface KnownEventType extends EventType {
  source: EventSource;
  /** The application that declared it, if any. */
  application: string | null;
}

/**
 * The event types that this process knows: the built-in ones, those of its modules, the stored ones, and the names in
 * `EXTRA_EVENT_TYPES`. When two have the same name, the one listed first here applies.
 */
export class EventCatalogue {
  readonly maxBytes: number;
  private readonly validator = new EventValidator(EVENT_TYPES);
  private readonly builtIn = EVENT_TYPES.map((type) => known(type, 'builtin'));
  private readonly named: readonly KnownEventType[];
  readonly application: string | null;
  private readonly registeredTypes = new Map<string, KnownEventType>();
  private stored: ReadonlySet<KnownEventType> = new Set();
  private types: ReadonlyMap<string, KnownEventType> = new Map();
  private readonly tooLarge = new WeakMap<ObjectSchema, boolean>();

  constructor({ extraEventTypes, eventMaxBytes, application }: CatalogueOptions) {
    this.application = application ?? null;
    this.maxBytes = eventMaxBytes;
    this.named = extraEventTypes.map((name) => known(namedOnly(name), 'setting'));
    this.merge();
  }

  /** All event types that a webhook can subscribe to. */
  get subscribable(): readonly KnownEventType[] {
    return [...this.types.values()];
  }

  /** All event types that a receiver can get, including tests. */
  get all(): readonly KnownEventType[] {
    return [...this.subscribable, known(TEST_EVENT_TYPE, 'builtin')];
  }

  /** The names of all event types that a webhook can subscribe to. */
  get subscribableNames(): readonly string[] {
    return [...this.types.keys()];
  }

  /** The names of all event types that users may publish: all but the reserved ones. */
  get publishableNames(): readonly string[] {
    return this.subscribableNames.filter((name) => !isReserved(name));
  }

  /** Returns the event type with this name, if a webhook can subscribe to it. */
  find(name: string): KnownEventType | undefined {
    return this.types.get(name);
  }

  /** The types that were registered in this process. */
  get registered(): readonly KnownEventType[] {
    return [...this.registeredTypes.values()];
  }

  /** Returns the type with this name that is not stored: built in, of a module of this process, or named by the operator. */
  findOwn(name: string): KnownEventType | undefined {
    const own = [...this.builtIn, ...this.registered, ...this.named];
    return own.find((type) => type.name === name);
  }

  /** Returns up to ten errors of the data of this event; none when it is valid, or when there is no such event. */
  errorsOf(name: string, data: unknown): FieldError[] {
    const type = this.types.get(name);
    if (!type) return [];
    const isStored = this.stored.has(type);
    if (isStored && this.isTooLarge(type)) {
      return [invalidField('data', `cannot be validated: the schema of ${name} is too large`)];
    }
    return this.validator.errorsOf(type.schema, data, isStored);
  }

  /** Checks each schema once: the types of a frequently published name often stay the same objects. */
  private isTooLarge({ schema }: KnownEventType): boolean {
    const isTooLarge = this.tooLarge.get(schema) ?? isTooLargeToCompile(schema);
    this.tooLarge.set(schema, isTooLarge);
    return isTooLarge;
  }

  /**
   * Registers the event type of a module. The same type may be registered twice.
   * @throws Error that names the event and the problem
   */
  register(type: EventType): void {
    const { name } = type;
    const before = this.registeredTypes.get(name);
    const declared = { ...known(type, 'module'), application: this.application };
    if (before && isDeepStrictEqual(before, declared)) return;
    const problem = before
      ? 'another module has registered that name with another description, schema or example'
      : (refusal(name) ??
        this.twinProblem(name) ??
        this.typeProblem(type)?.problem ??
        descriptionProblem(type.description) ??
        exampleProblem(type.example));
    if (problem) throw new Error(`The event ${JSON.stringify(name)} cannot be registered: ${problem}.`);
    this.registeredTypes.set(name, declared);
    this.merge();
  }

  /** Replaces all stored types. */
  replaceStored(types: readonly KnownEventType[]): void {
    this.stored = new Set(types);
    this.merge();
  }

  /** The names in `EXTRA_EVENT_TYPES` that another source also defines, also in another case. */
  get namedTwice(): readonly string[] {
    return this.named.filter(({ name }) => this.types.get(name)?.source !== 'setting').map(({ name }) => name);
  }

  /** Returns the problem with the schema or the example of a type, as the rest of a sentence, or null. */
  typeProblem(type: Pick<EventType, 'schema' | 'example'>): { field: 'schema' | 'example'; problem: string } | null {
    const invalid = this.compileProblem(type);
    if (invalid !== null) return { field: 'schema', problem: invalid };
    const misfit = this.misfit(type);
    return misfit === null ? null : { field: 'example', problem: misfit };
  }

  /** Names that differ only in case would be confused. */
  private twinProblem(name: string): string | null {
    const twin = twinOf(
      name,
      [...this.builtIn, ...this.registered].map((type) => type.name),
    );
    return twin === undefined ? null : `it differs from ${twin} only in case`;
  }

  private compileProblem({ schema }: Pick<EventType, 'schema'>): string | null {
    if (schema.type !== 'object') return 'its schema must be of type "object"';
    try {
      this.validator.compile(schema);
      return null;
    } catch (error) {
      return `its schema is not a valid JSON Schema: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  private misfit({ schema, example }: Pick<EventType, 'schema' | 'example'>): string | null {
    const verdict = serialiseData(example);
    const problem = verdict.ok ? messageOf(this.validator.errorsOf(schema, verdict.value, true)) : verdict.problem;
    return problem ? `its example does not fit its schema: ${problem}` : null;
  }

  private merge(): void {
    const types = new Map<string, KnownEventType>();
    for (const type of [...this.builtIn, ...this.registered, ...this.stored]) {
      if (!types.has(type.name)) types.set(type.name, type);
    }
    const lower = new Set([...types.keys()].map((name) => name.toLowerCase()));
    for (const type of this.named) if (!lower.has(type.name.toLowerCase())) types.set(type.name, type);
    this.types = types;
  }
}

const known = ({ name, description, schema, example }: EventType, source: EventSource): KnownEventType => ({
  ...{ name, description, schema, example },
  source,
  application: null,
});

function namedOnly(name: string): EventType {
  return {
    name,
    description: 'An event of this installation; its data may be any JSON object.',
    schema: { type: 'object' },
    example: {},
  };
}

function refusal(name: string): string | null {
  const problem = nameProblem(name, true);
  return problem && `the name ${problem}`;
}
