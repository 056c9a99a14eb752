import type { Fault } from '../../api/types';
import { TEXT } from '../../text/en';
import type { Mark } from './code-mirror';
import { type JsonFault, lineAt, placeOf, placesOf } from './json-places';

/** Returns a sentence with line, column and cause of a syntax error. */
export function faultText(text: string, { at, expected }: JsonFault): string {
  if (at === null || expected === null) return TEXT.publish.notJsonAnywhere;
  const { line, column } = lineAt(text, at);
  return TEXT.publish.notJson(line, column, expected);
}

/** Returns the marks for the editor: the syntax error, or else the fields that the service has refused. */
export function marksOf(text: string, fault: JsonFault | null, details: readonly Fault[]): Mark[] {
  if (fault) {
    return fault.at === null || fault.expected === null
      ? []
      : [{ at: fault.at, message: TEXT.publish.notJsonAt(fault.expected) }];
  }
  if (details.length === 0) return [];
  const places = placesOf(text);
  return details.flatMap(({ field, message }) => {
    const at = placeOf(places, field);
    return at === null ? [] : [{ at, message }];
  });
}
