import { isDeepStrictEqual } from 'node:util';
import { isReserved, nameProblem } from '../plumbing/config/event-name';
import { EVENT_TYPES, type EventType, TEST_EVENT_TYPE } from './catalogue';
import { serialiseData } from './event-data';
import { EventValidator } from './event-validator';

export interface CatalogueOptions {
  /** Names without a schema of their own: their data may be any object. */
  extraEventTypes: readonly string[];
  /** The most bytes that an event's data may have as JSON. */
  eventMaxBytes: number;
}

/** The event types of this process: the built-in ones, those that the operator names, and those that modules add. */
export class EventCatalogue {
  readonly maxBytes: number;
  private readonly validator = new EventValidator(EVENT_TYPES);
  private readonly types: Map<string, EventType>;
  private readonly registered = new Set<string>();

  constructor({ extraEventTypes, eventMaxBytes }: CatalogueOptions) {
    this.maxBytes = eventMaxBytes;
    this.types = new Map([...EVENT_TYPES, ...extraEventTypes.map(namedOnly)].map((type) => [type.name, type]));
  }

  /** Every event type that a webhook can subscribe to. */
  get subscribable(): readonly EventType[] {
    return [...this.types.values()];
  }

  /** Every event type that a receiver can get, tests included. */
  get all(): readonly EventType[] {
    return [...this.subscribable, TEST_EVENT_TYPE];
  }

  /** The names of all event types that a webhook can subscribe to. */
  get subscribableNames(): readonly string[] {
    return [...this.types.keys()];
  }

  /** The names of all event types that users may publish: all but the reserved ones. */
  get publishableNames(): readonly string[] {
    return this.subscribableNames.filter((name) => !isReserved(name));
  }

  /** The event type with this name, if a webhook can subscribe to it. */
  find(name: string): EventType | undefined {
    return this.types.get(name);
  }

  /** What is wrong with the data of this event; null when it fits. Names without a schema take any object. */
  problemOf(name: string, data: unknown): string | null {
    return this.validator.problemOf(name, data);
  }

  /**
   * Adds the event type of a module. A type that the operator only named gets its schema. The same type may come twice.
   * @throws Error that names the event and what is wrong with it
   */
  register(type: EventType): void {
    const { name } = type;
    if (this.registered.has(name) && isDeepStrictEqual(this.types.get(name), type)) return;
    const problem = this.registered.has(name)
      ? 'another module has registered that name with another description, schema or example'
      : (refusal(name) ?? this.compileProblem(type) ?? this.exampleProblem(type));
    if (problem) throw new Error(`The event ${JSON.stringify(name)} cannot be registered: ${problem}.`);
    this.registered.add(name);
    this.types.set(name, type);
  }

  private compileProblem({ name, schema }: EventType): string | null {
    if (schema.type !== 'object') return 'its schema must be of type "object"';
    try {
      this.validator.add(name, schema);
      return null;
    } catch (error) {
      return `its schema is not a valid JSON Schema: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  private exampleProblem({ name, example }: EventType): string | null {
    const verdict = serialiseData(example);
    const problem = verdict.ok ? this.problemOf(name, verdict.value) : verdict.problem;
    return problem && `its example does not fit its schema: ${problem}`;
  }
}

function namedOnly(name: string): EventType {
  return {
    name,
    description: 'An event of this installation; its data may be any JSON object.',
    schema: { type: 'object' },
    example: {},
  };
}

function refusal(name: string): string | null {
  const problem = nameProblem(name);
  return problem && `the name ${problem}`;
}
