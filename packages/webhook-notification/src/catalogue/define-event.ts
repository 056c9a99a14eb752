import type { EventType, ObjectSchema } from './built-in-types';
import type { DataOf } from './data-of';
import { nameProblem } from './event-name';

/** An event of an application: its name, when it happens, and what its data is. */
export type EventDefinition<Name extends string = string, Data extends object = object> = EventType<Data> & {
  name: Name;
};

/** A schema of another library that can say itself as a JSON Schema: zod 4, ArkType, Valibot and others. */
export interface StandardJsonSchema<Data extends object = object> {
  readonly '~standard': {
    readonly types?: { readonly input: Data; readonly output: unknown } | undefined;
    readonly jsonSchema: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> };
  };
}

/** What both ways of defining an event have in common. */
interface Described<Name> {
  /** Two or more parts of a-z, 0-9 and _, joined by dots, at most 128 characters: `order.paid`. */
  name: Name;
  /** When it happens, as a sentence. */
  description: string;
}

/**
 * Defines an event: `defineEvent({ name: 'order.paid', description: 'An order was paid.', schema, example })`. Its data has
 * the type that the schema says: a JSON Schema (2020-12) written in place, or a Standard Schema such as one of zod 4.
 * @throws TypeError for a name that cannot be, or a schema of something else than an object
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
  const problem = nameProblem(name);
  if (problem) throw new TypeError(`The event ${JSON.stringify(name)} cannot be defined: the name ${problem}.`);
  const json = '~standard' in schema ? schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) : schema;
  if (json.type !== 'object') {
    throw new TypeError(`The event ${JSON.stringify(name)} cannot be defined: its schema is not that of an object.`);
  }
  return { name, description, schema: json as unknown as ObjectSchema, example: example as object };
}
