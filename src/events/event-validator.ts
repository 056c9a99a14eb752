import { type ErrorObject, type ValidateFunction } from 'ajv';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { EventType } from './catalogue';

const MAX_FAULTS = 10;

/** Judges the data of events against the JSON Schemas (2020-12) of their types. */
export class EventValidator {
  private readonly validators: ReadonlyMap<string, ValidateFunction>;

  constructor(types: readonly EventType[]) {
    const ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
    this.validators = new Map(types.map(({ name, schema }) => [name, ajv.compile(schema)]));
  }

  knows(name: string): boolean {
    return this.validators.has(name);
  }

  /** What is wrong, each fault with its path, or null when the data fits. */
  problemOf(name: string, data: unknown): string | null {
    const validate = this.validators.get(name);
    if (!validate || validate(data)) return null;
    return (validate.errors ?? []).slice(0, MAX_FAULTS).map(sentence).join('; ');
  }
}

function sentence({ instancePath, message, params }: ErrorObject): string {
  const path = `data${instancePath.replaceAll('/', '.')}`;
  const allowed = (params as { allowedValues?: unknown[] }).allowedValues;
  return `${path} ${message ?? 'is not valid'}${allowed ? `: ${allowed.join(', ')}` : ''}`;
}
