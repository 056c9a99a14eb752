import { type ErrorObject, type ValidateFunction } from 'ajv';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { EventType, ObjectSchema } from './built-in-types';

const MAX_FAULTS = 10;
const TEXT_OR_LOOP = /"(?:[^"\\]|\\.)*"|\bfor\((?:const|let) [^{}"]*\)\{/g;

/** Judges the data of events against the JSON Schemas (2020-12) of their types. */
export class EventValidator {
  private readonly validators = new WeakMap<ObjectSchema, ValidateFunction>();

  /** @param types those whose schemas are compiled now, and not when they are needed first */
  constructor(types: readonly EventType[] = []) {
    const ajv = newAjv();
    for (const { schema } of types) this.validators.set(schema, ajv.compile(schema));
  }

  /** Up to ten faults, each with its path; null when the data fits. */
  problemOf(schema: ObjectSchema, data: unknown): string | null {
    const validate = this.compile(schema);
    try {
      if (validate(data)) return null;
    } catch (error) {
      // Ajv compares objects by their valueOf and toString, which may be values of the data.
      if (error instanceof TypeError) return 'data has a key valueOf or toString where its schema compares objects';
      throw error;
    }
    return (validate.errors ?? []).slice(0, MAX_FAULTS).map(sentence).join('; ');
  }

  /**
   * The compiled schema, which must not be changed any more.
   * @throws Error when it is not a JSON Schema
   */
  compile(schema: ObjectSchema): ValidateFunction {
    const known = this.validators.get(schema);
    if (known) return known;
    // Each schema has an Ajv of its own: schemas of different modules may carry the same $id.
    const validate = newAjv().compile(schema);
    this.validators.set(schema, validate);
    return validate;
  }
}

const newAjv = (): Ajv2020 =>
  addFormats(new Ajv2020({ strict: false, allErrors: true, logger: false, code: { process: endLoopsEarly } }));

/**
 * Ends each loop of a compiled schema after ten faults of its own: half a million wrong items would be as many faults. What
 * the loop belongs to has failed then, whatever else it finds, so the verdict stays the same.
 */
function endLoopsEarly(code: string): string {
  let loops = 0;
  return code.replaceAll(TEXT_OR_LOOP, (found) => {
    if (found.startsWith('"')) return found;
    const before = `before${(loops += 1)}`;
    return `var ${before}=errors;${found}if(errors-${before}>=${MAX_FAULTS})break;`;
  });
}

function sentence({ instancePath, message, params }: ErrorObject): string {
  const path = `data${instancePath.replaceAll('/', '.')}`;
  const allowed = (params as { allowedValues?: unknown[] }).allowedValues;
  return `${path} ${message ?? 'is not valid'}${allowed ? `: ${allowed.join(', ')}` : ''}`;
}
