/** The type of the data that a JSON Schema (2020-12) describes, as far as TypeScript can express it; otherwise `unknown`. */
export type DataOf<Schema> = Schema extends { const: infer Value }
  ? Value
  : Schema extends { enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { oneOf: readonly (infer Alternative)[] }
      ? Each<Alternative>
      : Schema extends { anyOf: readonly (infer Alternative)[] }
        ? Each<Alternative>
        : Schema extends { type: infer Type }
          ? Type extends readonly (infer One)[]
            ? OfType<One, Schema>
            : OfType<Type, Schema>
          : unknown;

/** Distributes over the alternatives, so that they become a union. */
type Each<Alternative> = Alternative extends unknown ? DataOf<Alternative> : never;

type OfType<Type, Schema> = Type extends 'string'
  ? string
  : Type extends 'integer' | 'number'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? ItemsOf<Schema>
          : Type extends 'object'
            ? ObjectOf<Schema>
            : unknown;

type ItemsOf<Schema> = Schema extends { items: infer Items } ? DataOf<Items>[] : unknown[];

type ObjectOf<Schema> = Schema extends { properties: infer Properties }
  ? Flat<
      {
        -readonly [Key in keyof Properties as Key extends RequiredOf<Schema> ? Key : never]: DataOf<Properties[Key]>;
      } & {
        -readonly [Key in keyof Properties as Key extends RequiredOf<Schema> ? never : Key]?: DataOf<Properties[Key]>;
      }
    >
  : Record<string, unknown>;

type RequiredOf<Schema> = Schema extends { required: readonly (infer Name)[] } ? Name : never;

/** The same type as a single object, which editors display better than an intersection. */
type Flat<Parts> = { [Key in keyof Parts]: Parts[Key] };
