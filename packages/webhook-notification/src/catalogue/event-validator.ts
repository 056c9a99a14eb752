import { type ErrorObject, type ValidateFunction } from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { EventType, ObjectSchema } from './built-in-types';
import { type FieldError, invalidField } from './field-error';
import { MAX_ERRORS, Meter, metered, TooCostly } from './metered-code';

const TOO_COSTLY = 'has too many values for its schema: validation stops at a million checks';
const COMPARES = 'has a key valueOf or toString where its schema compares objects';

/** Validates the data of events against the JSON Schemas (2020-12) of their types. */
export class EventValidator {
  private readonly validators = new WeakMap<ObjectSchema, ValidateFunction>();
  private readonly meter = new Meter();

  /** @param types event types whose schemas are compiled now instead of on first use */
  constructor(types: readonly EventType[] = []) {
    const ajv = newAjv(this.meter);
    for (const { schema } of types) this.validators.set(schema, ajv.compile(schema));
  }

  /**
   * Returns up to ten errors; none when the data is valid.
   * @param isBounded rejects data whose validation takes more than a million checks
   */
  errorsOf(schema: ObjectSchema, data: unknown, isBounded = false): FieldError[] {
    const validate = this.compile(schema);
    try {
      this.meter.begin(isBounded);
      if (validate(data)) return [];
    } catch (error) {
      // A schema of version 0.2 may be compiled to more nested branches than fit on the stack.
      if (error instanceof TooCostly || error instanceof RangeError) return [invalidField('data', TOO_COSTLY)];
      // Ajv compares objects by their valueOf and toString, which may be values of the data.
      if (error instanceof TypeError) return [invalidField('data', COMPARES)];
      throw error;
    }
    return (validate.errors ?? []).slice(0, MAX_ERRORS).map(fieldErrorOf);
  }

  /**
   * Compiles the schema, which must not be changed afterwards.
   * @throws Error when it is not a JSON Schema
   */
  compile(schema: ObjectSchema): ValidateFunction {
    const known = this.validators.get(schema);
    if (known) return known;
    this.meter.begin(false);
    // Each schema has its own Ajv, because schemas of different modules may have the same $id.
    const validate = newAjv(this.meter).compile(schema);
    this.validators.set(schema, validate);
    return validate;
  }
}

function newAjv(meter: Meter): Ajv2020 {
  const options = {
    strict: false,
    allErrors: true,
    logger: false,
    loopRequired: MAX_ERRORS,
    code: { process: metered },
  } as const;
  return addFormats(Object.assign(new Ajv2020(options), { meter }));
}

function fieldErrorOf({ instancePath, message = 'is not valid', params }: ErrorObject): FieldError {
  const { allowedValues, missingProperty, additionalProperty } = params as {
    allowedValues?: unknown[];
    missingProperty?: string;
    additionalProperty?: string;
  };
  const path = `data${pathOf(instancePath)}`;
  const said = { message: `${path} ${message}${allowedValues ? `: ${allowedValues.join(', ')}` : ''}` };
  if (missingProperty !== undefined) return { field: `${path}.${missingProperty}`, code: 'required', ...said };
  if (additionalProperty !== undefined)
    return { field: `${path}.${additionalProperty}`, code: 'unknown_field', ...said };
  return { field: path, code: 'invalid', ...said };
}

/** Converts a JSON pointer: `/lines/0/id` becomes `.lines[0].id`. */
const pathOf = (pointer: string): string =>
  pointer
    .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
