import { type ErrorObject, type ValidateFunction } from 'ajv';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { EventType, ObjectSchema } from './catalogue';

const MAX_FAULTS = 10;

/** Judges the data of events against the JSON Schemas (2020-12) of their types. */
export class EventValidator {
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(types: readonly EventType[]) {
    const ajv = newAjv();
    for (const { name, schema } of types) this.validators.set(name, ajv.compile(schema));
  }

  /**
   * Adds the schema of an event, or replaces it.
   * @throws Error when it is not a JSON Schema
   */
  add(name: string, schema: ObjectSchema): void {
    // Each schema has an Ajv of its own: schemas of different modules may carry the same $id.
    this.validators.set(name, newAjv().compile(schema));
  }

  /** True when the event has a schema. */
  knows(name: string): boolean {
    return this.validators.has(name);
  }

  /** Up to ten faults, each with its path; null when the data fits, or when the event has no schema. */
  problemOf(name: string, data: unknown): string | null {
    const validate = this.validators.get(name);
    if (!validate || validate(data)) return null;
    return (validate.errors ?? []).slice(0, MAX_FAULTS).map(sentence).join('; ');
  }
}

const newAjv = (): Ajv2020 => addFormats(new Ajv2020({ strict: false, allErrors: true }));

function sentence({ instancePath, message, params }: ErrorObject): string {
  const path = `data${instancePath.replaceAll('/', '.')}`;
  const allowed = (params as { allowedValues?: unknown[] }).allowedValues;
  return `${path} ${message ?? 'is not valid'}${allowed ? `: ${allowed.join(', ')}` : ''}`;
}
