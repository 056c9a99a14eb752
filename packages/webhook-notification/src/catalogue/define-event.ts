import type { EventType, ObjectSchema } from './built-in-types';
import type { DataOf } from './data-of';
import { nameProblem } from './event-name';

/** An event of an application: its name, when it occurs, and its data. */
export type EventDefinition<Name extends string = string, Data extends object = object> = EventType<Data> & {
  name: Name;
};

/** A schema of another library that can be converted to a JSON Schema: zod 4, ArkType, Valibot and others. */
export interface StandardJsonSchema<Data extends object = object> {
  readonly '~standard': {
    readonly types?: { readonly input: Data; readonly output: unknown } | undefined;
    readonly jsonSchema: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> };
  };
}

/** The properties that both ways of defining an event share. */
interface Described<Name> {
  /** 1 to 128 characters: parts of A-Z, a-z, 0-9, _ and -, with dots between them, such as `order.paid`. */
  name: Name;
  /** When the event occurs, as a sentence. */
  description: string;
}

/**
 * Defines an event: `defineEvent({ name: 'order.paid', description: 'An order was paid.', schema, example })`. The type
 * of its data follows from the schema: an inline JSON Schema (2020-12), or a Standard Schema such as one of zod 4.
 * @throws TypeError for an invalid name, or a schema that does not describe an object
 */
export function defineEvent<const Name extends string, Data extends object>(
  definition: Described<Name> & { schema: StandardJsonSchema<Data>; example: Data },
): EventDefinition<Name, Data>;
export function defineEvent<const Name extends string, const Schema extends ObjectSchema>(
  definition: Described<Name> & { schema: Schema; example: DataOf<Schema> },
): EventDefinition<Name, Extract<DataOf<Schema>, object>>;
export function defineEvent({
  name,
  description,
  schema,
  example,
}: Described<string> & { schema: StandardJsonSchema | ObjectSchema; example: unknown }): EventDefinition {
  const problem = nameProblem(name, true);
  if (problem) throw new TypeError(`The event ${JSON.stringify(name)} cannot be defined: the name ${problem}.`);
  const json = '~standard' in schema ? schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) : schema;
  if (json.type !== 'object') {
    throw new TypeError(`The event ${JSON.stringify(name)} cannot be defined: its schema is not that of an object.`);
  }
  return { name, description, schema: json as unknown as ObjectSchema, example: example as object };
}
