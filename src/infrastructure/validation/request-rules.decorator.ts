import { SetMetadata, type Type } from '@nestjs/common';
import type { FieldError } from 'webhook-notification/catalogue';

export const REQUEST_RULES = 'validation:rules';

/** The parts of a request that rules may need. */
export interface RuleRequest {
  user?: { userId: string };
  params: unknown;
}

/** Rules for the fields of a body that need more than the field: settings, other fields, or the database. */
export interface RequestRules {
  /**
   * Returns the errors of these fields.
   * @param fields the fields of the body that are valid on their own, as sent
   */
  errorsOf(fields: Record<string, unknown>, request: RuleRequest): Promise<FieldError[]> | FieldError[];
}

/** Validates the body of a route by these rules too, so that one response lists all errors. */
export const Rules = (rules: Type<RequestRules>): MethodDecorator => SetMetadata(REQUEST_RULES, rules);
